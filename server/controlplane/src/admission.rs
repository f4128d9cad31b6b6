//! Admission of the control plane, in upstream's order.

mod certificates;
mod classes;
mod namespaces;
mod nodes;
mod priority;
mod runtime_class;
mod service_account;
mod storage;
mod tolerations;

use std::sync::Arc;

use async_trait::async_trait;
use endpoints::{Admission, Attributes, Environment, Operation};
use machinery::reflect::{Owned, Struct};
use machinery::status::{GroupResource, Status};
use registry::Predicate;

use crate::rbac::escalation;

/// What is kept until nothing uses it: group and resource, plugin, finalizer.
const PROTECTION: [((&str, &str), &str, &str); 4] = [
    (("", "persistentvolumes"), "StorageObjectInUseProtection", "kubernetes.io/pv-protection"),
    (("", "persistentvolumeclaims"), "StorageObjectInUseProtection", "kubernetes.io/pvc-protection"),
    (("storage.k8s.io", "volumeattributesclasses"), "StorageObjectInUseProtection", "kubernetes.io/vac-protection"),
    (("scheduling.k8s.io", "podgroups"), "PodGroupProtection", "scheduling.k8s.io/podgroup-protection"),
];

/// The plugins that are built.
pub struct Chain {
    environment: Arc<Environment>,
}

impl Chain {
    pub fn new(environment: Arc<Environment>) -> Self {
        Chain { environment }
    }

    fn runs(&self, plugin: &str) -> bool {
        self.environment.options.admission.runs(plugin)
    }

    async fn admit_pod(&self, attributes: &Attributes, object: &mut Owned, old: Option<&Owned>) -> Result<(), Status> {
        if self.runs("ServiceAccount") {
            service_account::admit(&self.environment, attributes, object).await?;
        }
        if self.runs("Priority") {
            priority::admit(&self.environment, attributes, object, old).await?;
        }
        if self.runs("DefaultTolerationSeconds") {
            tolerations::admit(object);
        }
        if self.runs("RuntimeClass") {
            runtime_class::admit(&self.environment, attributes, object).await?;
        }
        Ok(())
    }

    /// Who may approve, sign and vouch for certificates.
    async fn validate_certificates(
        &self,
        attributes: &Attributes,
        object: &Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let check = certificates::Check { environment: &self.environment, attributes, object, old };
        if self.runs("CertificateApproval") {
            check.approval().await?;
        }
        if self.runs("CertificateSigning") {
            check.signing().await?;
        }
        if self.runs("ClusterTrustBundleAttest") {
            check.attestation().await?;
        }
        if self.runs("CertificateSubjectRestriction") {
            check.subject()?;
        }
        Ok(())
    }

    async fn admit_created(&self, attributes: &Attributes, object: &mut Owned) -> Result<(), Status> {
        match (attributes.kind.group, attributes.plural) {
            ("", "nodes") if self.runs("TaintNodesByCondition") => nodes::taint(object),
            ("", "persistentvolumeclaims") if self.runs("DefaultStorageClass") => {
                storage::default_class(&self.environment, object).await?;
            }
            ("certificates.k8s.io", "certificatesigningrequests") => certificates::record_requester(attributes, object),
            ("networking.k8s.io", "ingresses") if self.runs("DefaultIngressClass") => {
                classes::default_ingress_class(&self.environment, object).await?;
            }
            _ => {}
        }
        let protection = PROTECTION.iter().find(|(of, ..)| *of == (attributes.kind.group, attributes.plural));
        if let Some((.., finalizer)) = protection.filter(|(_, plugin, _)| self.runs(plugin)) {
            storage::protect(object, finalizer);
        }
        Ok(())
    }
}

#[async_trait]
impl Admission for Chain {
    async fn admit(&self, attributes: &Attributes, object: &mut Owned, old: Option<&Owned>) -> Result<(), Status> {
        if self.runs("NamespaceLifecycle") {
            namespaces::admit(&self.environment, attributes).await?;
        }
        if !attributes.subresource.is_empty() {
            return Ok(());
        }
        if attributes.kind.group.is_empty() && attributes.plural == "pods" {
            self.admit_pod(attributes, object, old).await?;
        }
        if attributes.operation == Operation::Create {
            self.admit_created(attributes, object).await?;
        }
        escalation::check(&self.environment, attributes, object, old).await
    }

    async fn validate(
        &self,
        attributes: &Attributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        if let Some(object) = object {
            self.validate_certificates(attributes, object, old).await?;
        }
        if attributes.operation == Operation::Delete && attributes.subresource.is_empty() {
            if self.runs("NamespaceLifecycle") {
                namespaces::validate_delete(attributes)?;
            }
            if self.runs("Priority") {
                priority::validate_delete(attributes)?;
            }
        }
        Ok(())
    }
}

/// `admission.NewForbidden`
fn forbidden(attributes: &Attributes, why: impl std::fmt::Display) -> Status {
    let of = GroupResource { group: attributes.kind.group, resource: attributes.plural };
    Status::forbidden(of, &attributes.name, why)
}

/// An object of a resource; `None` when there is none of this name.
async fn find<T: Struct>(
    environment: &Environment,
    resource: (&'static str, &'static str),
    namespace: &str,
    name: &str,
) -> Result<Option<T>, Status> {
    let Some(store) = environment.stores.get(&resource) else { return Ok(None) };
    match store.get(namespace, name, "").await {
        Ok(object) => Ok(object.into_inner().ok()),
        Err(status) if status.code == 404 => Ok(None),
        Err(status) => Err(status),
    }
}

/// All objects of a resource.
pub(crate) async fn all<T: Struct>(
    environment: &Environment,
    resource: (&'static str, &'static str),
) -> Result<Vec<T>, Status> {
    let Some(store) = environment.stores.get(&resource) else { return Ok(Vec::new()) };
    let objects = store.objects("", &Predicate::default()).await?;
    Ok(objects.into_iter().filter_map(|object| object.into_inner().ok()).collect())
}
