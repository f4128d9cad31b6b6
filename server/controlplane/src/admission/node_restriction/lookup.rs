//! What the checks look up: stored objects, and the rights of the kubelet.

use std::future::Future;
use std::sync::Arc;

use endpoints::{Attributes, ServerContext};
use machinery::reflect::Struct;
use machinery::status::{GroupResource, Status};
use serving::authorization;

use super::Refusal;
use crate::admission::lookup::find;

/// A resource: group, plural, and the singular that upstream's listers name in errors.
pub type Resource = (&'static str, &'static str, &'static str);

pub const NODES: Resource = ("", "nodes", "node");
pub const PODS: Resource = ("", "pods", "pod");
pub const SERVICE_ACCOUNTS: Resource = ("", "serviceaccounts", "serviceaccount");
pub const CLAIMS: Resource = ("", "persistentvolumeclaims", "persistentvolumeclaim");
pub const VOLUMES: Resource = ("", "persistentvolumes", "persistentvolume");
pub const CSI_DRIVERS: Resource = ("storage.k8s.io", "csidrivers", "csidriver");

/// Where stored objects and decisions come from; tests have their own.
pub trait Lookup: Sync {
    /// The object of this namespace and name, if there is one.
    fn find<T: Struct>(
        &self,
        resource: Resource,
        key: (&str, &str),
    ) -> impl Future<Output = Result<Option<Arc<T>>, Status>> + Send;

    /// Whether the kubelet has a right.
    fn is_allowed(&self, wish: &authorization::Attributes<'_>) -> impl Future<Output = bool> + Send;
}

/// The objects and the authorizer of the running server.
pub struct Stored<'a> {
    pub environment: &'a ServerContext,
    pub attributes: &'a Attributes,
}

impl Lookup for Stored<'_> {
    async fn find<T: Struct>(&self, (group, plural, _): Resource, key: (&str, &str)) -> Result<Option<Arc<T>>, Status> {
        find(self.environment, self.attributes, (group, plural), key).await
    }

    async fn is_allowed(&self, wish: &authorization::Attributes<'_>) -> bool {
        self.environment.access.authorizer.authorize(wish).await.is_allowed()
    }
}

/// An object that has to exist. One that does not is the answer 404; other failures are reasons of a 403.
pub async fn get<T: Struct>(lookup: &impl Lookup, resource: Resource, key: (&str, &str)) -> Result<Arc<T>, Refusal> {
    match lookup.find(resource, key).await {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(Refusal::Status(missing(resource, key.1))),
        Err(status) => Err(status.message.into()),
    }
}

/// 404, with the resource's singular as upstream's listers have it.
pub fn missing((group, _, singular): Resource, name: &str) -> Status {
    Status::not_found(GroupResource { group, resource: singular }, name)
}
