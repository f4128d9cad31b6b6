//! Pods of the kubelet's node: creation of mirror pods, deletion, status, and eviction.

use endpoints::Operation;
use generated::core::v1::{Node, Pod, PodSpec, PodStatus, Volume, VolumeProjection};
use generated::policy::v1::Eviction;
use machinery::reflect::{Ref, Struct, Value};
use machinery::scalar::go_text::quote;

use super::lookup::{NODES, PODS, get};
use super::{Lookup, Outcome, Request};
use kubernetes::core::pod_references::{ReferenceKind, visit_pod};

pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";

impl<L: Lookup> Request<'_, L> {
    pub(super) async fn pod(&self) -> Outcome {
        let node = quote(self.node);
        match self.attributes.operation {
            Operation::Create => self.mirror_pod(self.new_object()?).await,
            Operation::Delete if self.old_object::<Pod>()?.spec.node_name == self.node => Ok(()),
            Operation::Delete => {
                Err(format!("node {node} can only delete pods with spec.nodeName set to itself").into())
            }
            Operation::Update | Operation::Connect => Err(format!(
                "unexpected operation {}, node {node} can only create and delete mirror pods",
                self.operation()
            )
            .into()),
        }
    }

    async fn mirror_pod(&self, pod: &Pod) -> Outcome {
        let node = quote(self.node);
        if !pod.metadata.annotations.contains_key(MIRROR) {
            let why =
                format!("pod does not have {} annotation, node {node} can only create mirror pods", quote(MIRROR));
            return Err(why.into());
        }
        if pod.spec.node_name != self.node {
            return Err(format!("node {node} can only create pods with spec.nodeName set to itself").into());
        }
        self.owner_of_mirror_pod(pod).await?;
        match referenced(&pod.spec) {
            Ok(None) => Ok(()),
            Ok(Some(resource)) => Err(format!("node {node} can not create pods that reference {resource}").into()),
            Err(why) => Err(format!("error checking mirror pod for API references: {why}").into()),
        }
    }

    /// Requires that the pod's only owner is the kubelet's node.
    async fn owner_of_mirror_pod(&self, pod: &Pod) -> Outcome {
        let node = quote(self.node);
        let [owner] = pod.metadata.owner_references.as_slice() else {
            let what = if pod.metadata.owner_references.is_empty() { "an" } else { "a single" };
            return Err(format!("node {node} can only create pods with {what} owner reference set to itself").into());
        };
        if owner.api_version != "v1" || owner.kind != "Node" || owner.name != self.node {
            return Err(format!("node {node} can only create pods with an owner reference set to itself").into());
        }
        if owner.controller != Some(true) {
            let why = format!("node {node} can only create pods with a controller owner reference set to itself");
            return Err(why.into());
        }
        if owner.block_owner_deletion == Some(true) {
            return Err(format!("node {node} must not set blockOwnerDeletion on an owner reference").into());
        }
        let found = get::<Node>(self.lookup, NODES, ("", self.node)).await?;
        if owner.uid != found.metadata.uid {
            // As in upstream's message, the UID of the request comes first.
            let (name, sent, stored) = (self.node, &owner.uid, &found.metadata.uid);
            return Err(format!("node {name} UID mismatch: expected {sent} got {stored}").into());
        }
        Ok(())
    }

    /// Allows status updates of the node's pods, except fields that grant the kubelet permissions
    /// (CVE-2025-4563).
    pub(super) fn pod_status(&self) -> Outcome {
        if self.attributes.operation != Operation::Update {
            return Err(format!("unexpected operation {}", self.operation()).into());
        }
        let (node, old, new) = (quote(self.node), self.old_object::<Pod>()?, self.new_object::<Pod>()?);
        if old.spec.node_name != self.node {
            let why = format!("node {node} can only update pod status for pods with spec.nodeName set to itself");
            return Err(why.into());
        }
        if old.metadata.labels != new.metadata.labels {
            return Err(format!("node {node} cannot update labels through pod status").into());
        }
        let claims = |status: &PodStatus| {
            let claims = status.resource_claim_statuses.iter();
            claims.map(|claim| (claim.name.clone(), claim.resource_claim_name.clone())).collect::<Vec<_>>()
        };
        if claims(&old.status) != claims(&new.status) {
            return Err(format!("node {node} cannot update resource claim statues").into());
        }
        if old.status.extended_resource_claim_status != new.status.extended_resource_claim_status {
            return Err(format!("node {node} cannot update extended resource claim status").into());
        }
        Ok(())
    }

    pub(super) async fn eviction(&self) -> Outcome {
        if self.attributes.operation != Operation::Create {
            return Err(format!("unexpected operation {}", self.operation().trim_matches('"')).into());
        }
        let eviction: &Eviction = self.new_object()?;
        let names = [&self.attributes.name, &eviction.metadata.name];
        let Some(name) = names.into_iter().find(|name| !name.is_empty()) else {
            return Err("could not determine pod from request data".into());
        };
        let pod = get::<Pod>(self.lookup, PODS, (&self.attributes.namespace, name)).await?;
        if pod.spec.node_name == self.node {
            return Ok(());
        }
        Err(format!("node {} can only evict pods with spec.nodeName set to itself", self.node).into())
    }
}

/// A volume of a kind that this server does not know.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnknownVolume {
    #[error("unknown volume type for volume  {}", quote(name))]
    Volume { name: String },
    #[error("unknown source for projected volume {}", quote(name))]
    Projection { name: String },
}

/// Returns the API resource that a pod references, if any (upstream: `HasAPIObjectReference`).
fn referenced(spec: &PodSpec) -> Result<Option<&'static str>, UnknownVolume> {
    let mut kinds = Vec::new();
    visit_pod(spec, &mut |reference| kinds.push(reference.kind));
    let named = [
        (ReferenceKind::ServiceAccount, "serviceaccounts"),
        (ReferenceKind::Secret, "secrets"),
        (ReferenceKind::ConfigMap, "configmaps"),
    ];
    if let Some((_, resource)) = named.iter().find(|(kind, _)| kinds.contains(kind)) {
        return Ok(Some(resource));
    }
    if !spec.resource_claims.is_empty() {
        return Ok(Some("resourceclaims"));
    }
    for volume in &spec.volumes {
        if let Some(resource) = referenced_by_volume(volume)? {
            return Ok(Some(resource));
        }
    }
    // All references are rejected, including kinds that upstream checks only in volumes.
    Ok(kinds.first().map(|_| "other objects"))
}

/// Volume sources that reference no API object.
const PLAIN_VOLUMES: [&str; 22] = [
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
];

/// Returns the API resource that a volume references. Unknown volume sources are rejected.
pub(super) fn referenced_by_volume(volume: &Volume) -> Result<Option<&'static str>, UnknownVolume> {
    let sources = set_fields(&volume.volume_source);
    let unknown = || UnknownVolume::Volume { name: volume.name.clone() };
    if sources.is_empty() {
        return Err(unknown());
    }
    for source in sources {
        let resource = match source {
            "configMap" => "configmaps (via configmap volumes)",
            "secret" => "secrets (via secret volumes)",
            "csi" => "csidrivers (via CSI volumes)",
            "glusterfs" => "endpoints (via glusterFS volumes)",
            "persistentVolumeClaim" => "persistentvolumeclaims",
            "ephemeral" => "persistentvolumeclaims (via ephemeral volumes)",
            "azureFile" => "secrets (via azureFile volumes)",
            "projected" => match referenced_by_projections(volume)? {
                Some(resource) => resource,
                None => continue,
            },
            plain if PLAIN_VOLUMES.contains(&plain) => continue,
            _ => return Err(unknown()),
        };
        return Ok(Some(resource));
    }
    Ok(None)
}

fn referenced_by_projections(volume: &Volume) -> Result<Option<&'static str>, UnknownVolume> {
    let projections = volume.volume_source.projected.iter().flat_map(|projected| &projected.sources);
    for projection in projections {
        let sources = set_fields::<VolumeProjection>(projection);
        let unknown = || UnknownVolume::Projection { name: volume.name.clone() };
        for source in &sources {
            return Ok(Some(match *source {
                "configMap" => "configmaps (via projected volumes)",
                "secret" => "secrets (via projected volumes)",
                "serviceAccountToken" => "serviceaccounts (via projected volumes)",
                "clusterTrustBundle" => "clustertrustbundles",
                "podCertificate" => "podcertificates",
                "downwardAPI" => continue,
                _ => return Err(unknown()),
            }));
        }
        if sources.is_empty() {
            return Err(unknown());
        }
    }
    Ok(None)
}

/// Returns the JSON names of the fields of a union that are set.
pub(super) fn set_fields<T: Struct>(union: &T) -> Vec<&'static str> {
    let value = Ref::of(union);
    let fields = T::def().fields.iter().enumerate();
    fields.filter(|(index, _)| !matches!(value.get(*index), Value::Null)).map(|(_, field)| field.json).collect()
}
