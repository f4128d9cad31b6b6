//! Requires service account tokens bound to a pod of the node, with an audience that the pod uses.

use std::sync::Arc;

use authz::AuthorizationAttributes as AccessAttributes;
use generated::authentication::v1::TokenRequest;
use generated::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Volume};
use generated::storage::v1::CSIDriver;
use machinery::reflect::Struct;
use machinery::scalar::go_text::quote;
use machinery::status::Status;

use super::lookup::{CLAIMS, CSI_DRIVERS, ListerResource, PODS, VOLUMES, get, missing};
use super::pods::set_fields;
use super::{Lookup, Operation, Outcome, Request};
use crate::joined;

/// In-tree volumes that were migrated to CSI: field of the volume source and the driver (upstream:
/// `csi-translation-lib`).
const MIGRATED: [(&str, &str); 7] = [
    ("awsElasticBlockStore", "ebs.csi.aws.com"),
    ("azureDisk", "disk.csi.azure.com"),
    ("azureFile", "file.csi.azure.com"),
    ("cinder", "cinder.csi.openstack.org"),
    ("gcePersistentDisk", "pd.csi.storage.gke.io"),
    ("portworxVolume", "pxd.portworx.com"),
    ("vsphereVolume", "csi.vsphere.vmware.com"),
];
/// The verb that permits a further audience. The resource of the check is the audience.
const AUDIENCE_VERB: &str = "request-serviceaccounts-token-audience";

/// CSI drivers of a pod cannot be determined, for these reasons.
#[derive(Debug, thiserror::Error)]
#[error("{}", joined(&.0.iter().map(|status| status.message.clone()).collect::<Vec<_>>()))]
struct UnknownDrivers(Vec<Status>);

impl<L: Lookup> Request<'_, L> {
    pub(super) async fn token(&self) -> Outcome {
        if self.attributes.operation != Operation::Create {
            return Ok(());
        }
        let request: &TokenRequest = self.new_object()?;
        let reference = request.spec.bound_object_ref.as_ref();
        let is_pod = |reference: &&_| is_named_pod(reference);
        let Some(reference) = reference.map(|reference| &**reference).filter(is_pod) else {
            return Err("node requested token not bound to a pod".into());
        };
        if reference.uid.is_empty() {
            return Err("node requested token with a pod binding without a uid".into());
        }
        let pod = get::<Pod>(self.lookup, PODS, (&self.attributes.namespace, &reference.name)).await?;
        if reference.uid != pod.metadata.uid {
            return Err(format!(
                "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
                reference.uid
            )
            .into());
        }
        if pod.spec.node_name != self.node {
            return Err("node requested token bound to a pod scheduled on a different node".into());
        }
        if self.gates.audience_restriction {
            self.audience(&request.spec.audiences, &pod).await?;
        }
        Ok(())
    }

    /// Requires an audience that a volume of the pod requests or that the kubelet is authorized
    /// for.
    async fn audience(&self, audiences: &[String], pod: &Pod) -> Outcome {
        let audience = match audiences {
            [] => "",
            [one] => one.as_str(),
            _ => return Err("node may only request 0 or 1 audiences".into()),
        };
        let requested = self.pod_requests_audience(pod, audience).await;
        if requested.map_err(|why| format!("error validating audience {}: {why}", quote(audience)))? {
            return Ok(());
        }
        let user = &self.attributes.user;
        let access_attributes = AccessAttributes {
            namespace: &self.attributes.namespace,
            version: "v1",
            name: &self.attributes.name,
            ..AccessAttributes::resource(user, AUDIENCE_VERB, "", audience)
        };
        if self.lookup.is_allowed(&access_attributes).await {
            return Ok(());
        }
        let (audience, user) = (quote(audience), &user.name);
        Err(format!(
            "audience {audience} not found in pod spec volume, {user} is not authorized to request tokens for this audience"
        )
        .into())
    }

    /// Whether a projected volume or the CSI driver of a volume requests tokens for the audience.
    async fn pod_requests_audience(&self, pod: &Pod, audience: &str) -> Result<bool, UnknownDrivers> {
        let mut errors = Vec::new();
        for volume in &pod.spec.volumes {
            let projections = volume.volume_source.projected.iter().flat_map(|projected| &projected.sources);
            let mut tokens = projections.filter_map(|source| source.service_account_token.as_ref());
            if tokens.any(|token| token.audience == audience) {
                return Ok(true);
            }
            match self.driver_requests_audience(pod, volume, audience).await {
                Ok(false) => {}
                Ok(true) => return Ok(true),
                Err(status) => errors.push(status),
            }
        }
        if errors.is_empty() { Ok(false) } else { Err(UnknownDrivers(errors)) }
    }

    async fn driver_requests_audience(&self, pod: &Pod, volume: &Volume, audience: &str) -> Result<bool, Status> {
        let Some(driver) = self.driver_of(pod, volume).await? else { return Ok(false) };
        let driver = self.existing::<CSIDriver>(CSI_DRIVERS, ("", &driver)).await?;
        Ok(driver.spec.token_requests.iter().any(|request| request.audience == audience))
    }

    /// Returns the CSI driver of a volume, if it has one.
    async fn driver_of(&self, pod: &Pod, volume: &Volume) -> Result<Option<String>, Status> {
        let (namespace, source) = (&pod.metadata.namespace, &volume.volume_source);
        if source.ephemeral.as_ref().is_some_and(|ephemeral| ephemeral.volume_claim_template.is_some()) {
            return self.driver_of_claim(namespace, &format!("{}-{}", pod.metadata.name, volume.name)).await;
        }
        if let Some(claim) = &source.persistent_volume_claim {
            return self.driver_of_claim(namespace, &claim.claim_name).await;
        }
        let driver = source.csi.as_ref().map(|csi| csi.driver.clone());
        Ok(driver.or_else(|| migrated(source)).filter(|driver| !driver.is_empty()))
    }

    async fn driver_of_claim(&self, namespace: &str, name: &str) -> Result<Option<String>, Status> {
        let claim = self.existing::<PersistentVolumeClaim>(CLAIMS, (namespace, name)).await?;
        let volume = self.existing::<PersistentVolume>(VOLUMES, ("", &claim.spec.volume_name)).await?;
        let source = &volume.spec.persistent_volume_source;
        let driver = source.csi.as_ref().map(|csi| csi.driver.clone());
        Ok(driver.or_else(|| migrated(source)).filter(|driver| !driver.is_empty()))
    }

    async fn existing<T: Struct>(&self, resource: ListerResource, key: (&str, &str)) -> Result<Arc<T>, Status> {
        self.lookup.find(resource, key).await?.ok_or_else(|| missing(resource, key.1))
    }
}

fn is_named_pod(reference: &generated::authentication::v1::BoundObjectReference) -> bool {
    reference.api_version == "v1" && reference.kind == "Pod" && !reference.name.is_empty()
}

/// Returns the CSI driver that an in-tree volume source was migrated to.
fn migrated<T: Struct>(source: &T) -> Option<String> {
    let set = set_fields(source);
    MIGRATED.iter().find(|(field, _)| set.contains(field)).map(|(_, driver)| (*driver).to_owned())
}
