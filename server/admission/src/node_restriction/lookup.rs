//! Lookup of stored objects and of the kubelet's permissions.

use std::future::Future;
use std::sync::Arc;

use authz::Authorizer;
use endpoints::AdmissionAttributes;
use machinery::reflect::Struct;
use machinery::status::{GroupResource, Status};
use registry::Stores;

use super::NodeRestrictionDenial;
use crate::lookup::find;

/// A resource: group, plural, and the singular that upstream's listers use in errors.
pub type ListerResource = (&'static str, &'static str, &'static str);

pub const NODES: ListerResource = ("", "nodes", "node");
pub const PODS: ListerResource = ("", "pods", "pod");
pub const SERVICE_ACCOUNTS: ListerResource = ("", "serviceaccounts", "serviceaccount");
pub const CLAIMS: ListerResource = ("", "persistentvolumeclaims", "persistentvolumeclaim");
pub const VOLUMES: ListerResource = ("", "persistentvolumes", "persistentvolume");
pub const CSI_DRIVERS: ListerResource = ("storage.k8s.io", "csidrivers", "csidriver");

/// Source of stored objects and authorization decisions; tests implement their own.
pub trait Lookup: Sync {
    /// Returns the object with this namespace and name, if it exists.
    fn find<T: Struct>(
        &self,
        resource: ListerResource,
        key: (&str, &str),
    ) -> impl Future<Output = Result<Option<Arc<T>>, Status>> + Send;

    /// Whether the kubelet has a permission.
    fn is_allowed(&self, access_attributes: &authz::AuthorizationAttributes<'_>) -> impl Future<Output = bool> + Send;
}

/// The stored objects and the authorizer of the running server.
pub struct Stored<'a> {
    pub stores: &'a Stores,
    pub authorizer: &'a dyn Authorizer,
    pub attributes: &'a AdmissionAttributes,
}

impl Lookup for Stored<'_> {
    async fn find<T: Struct>(
        &self,
        (group, plural, _): ListerResource,
        key: (&str, &str),
    ) -> Result<Option<Arc<T>>, Status> {
        find(self.stores, self.attributes, (group, plural), key).await
    }

    async fn is_allowed(&self, access_attributes: &authz::AuthorizationAttributes<'_>) -> bool {
        self.authorizer.authorize(access_attributes).await.is_allowed()
    }
}

/// Returns an object that must exist. A missing object yields 404; other failures are reasons of a
/// 403.
pub async fn get<T: Struct>(
    lookup: &impl Lookup,
    resource: ListerResource,
    key: (&str, &str),
) -> Result<Arc<T>, NodeRestrictionDenial> {
    match lookup.find(resource, key).await {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(NodeRestrictionDenial::Status(missing(resource, key.1))),
        Err(status) => Err(status.message.into()),
    }
}

/// 404 with the singular of the resource, as upstream's listers.
pub fn missing((group, _, singular): ListerResource, name: &str) -> Status {
    Status::not_found(GroupResource { group, resource: singular }, name)
}
