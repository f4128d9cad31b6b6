//! Lookup of stored objects and of the kubelet's permissions.

use std::future::Future;
use std::sync::Arc;

use endpoints::{Attributes, ServerContext};
use machinery::reflect::Struct;
use machinery::status::{GroupResource, Status};

use super::Refusal;
use crate::lookup::find;

/// A resource: group, plural, and the singular that upstream's listers use in errors.
pub type Resource = (&'static str, &'static str, &'static str);

pub const NODES: Resource = ("", "nodes", "node");
pub const PODS: Resource = ("", "pods", "pod");
pub const SERVICE_ACCOUNTS: Resource = ("", "serviceaccounts", "serviceaccount");
pub const CLAIMS: Resource = ("", "persistentvolumeclaims", "persistentvolumeclaim");
pub const VOLUMES: Resource = ("", "persistentvolumes", "persistentvolume");
pub const CSI_DRIVERS: Resource = ("storage.k8s.io", "csidrivers", "csidriver");

/// Source of stored objects and authorization decisions; tests implement their own.
pub trait Lookup: Sync {
    /// Returns the object with this namespace and name, if it exists.
    fn find<T: Struct>(
        &self,
        resource: Resource,
        key: (&str, &str),
    ) -> impl Future<Output = Result<Option<Arc<T>>, Status>> + Send;

    /// Whether the kubelet has a permission.
    fn is_allowed(&self, access_attributes: &authz::Attributes<'_>) -> impl Future<Output = bool> + Send;
}

/// The stored objects and the authorizer of the running server.
pub struct Stored<'a> {
    pub environment: &'a ServerContext,
    pub attributes: &'a Attributes,
}

impl Lookup for Stored<'_> {
    async fn find<T: Struct>(&self, (group, plural, _): Resource, key: (&str, &str)) -> Result<Option<Arc<T>>, Status> {
        find(self.environment, self.attributes, (group, plural), key).await
    }

    async fn is_allowed(&self, access_attributes: &authz::Attributes<'_>) -> bool {
        self.environment.access.authorizer.authorize(access_attributes).await.is_allowed()
    }
}

/// Returns an object that must exist. A missing object yields 404; other failures are reasons of a
/// 403.
pub async fn get<T: Struct>(lookup: &impl Lookup, resource: Resource, key: (&str, &str)) -> Result<Arc<T>, Refusal> {
    match lookup.find(resource, key).await {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(Refusal::Status(missing(resource, key.1))),
        Err(status) => Err(status.message.into()),
    }
}

/// 404 with the singular of the resource, as upstream's listers.
pub fn missing((group, _, singular): Resource, name: &str) -> Status {
    Status::not_found(GroupResource { group, resource: singular }, name)
}
