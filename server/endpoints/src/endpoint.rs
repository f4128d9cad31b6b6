//! A resource in one version, as requests meet it.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use machinery::catalog::{Catalog, KindDef, ResourceDef, SubresourceDef};
use machinery::features::FeatureGates;
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};
use registry::{Context, ResourceStore};

use crate::admission::Admission;

/// Everything a verb needs to know about a resource in a version.
pub struct Endpoint {
    pub catalog: &'static Catalog,
    /// The version's kind.
    pub kind: &'static KindDef,
    pub resource: &'static ResourceDef,
    /// `None` for virtual resources.
    pub store: Option<Arc<ResourceStore>>,
    pub admission: Arc<dyn Admission>,
    pub features: Arc<FeatureGates>,
    /// Whether containers may be privileged.
    pub allow_privileged: bool,
    /// Behaviour of subresources, or of virtual resources under the empty name, that no descriptor can say.
    pub handlers: HashMap<&'static str, Arc<dyn SubresourceHandler>>,
}

/// A subresource, or a virtual resource, with behaviour of its own: `create` for `pods/binding` and reviews.
#[async_trait]
pub trait SubresourceHandler: Send + Sync {
    /// The body's kind, in the request's version.
    fn body_kind(&self) -> &'static KindDef;
    /// Takes a body and answers with an object of `body_kind`, or a Status as success.
    async fn create(&self, context: &Context, name: &str, body: Owned) -> Result<Owned, Status>;
}

impl Endpoint {
    /// Group and plural, as messages name it.
    pub fn name(&self) -> GroupResource<'static> {
        GroupResource { group: self.kind.group, resource: self.resource.plural }
    }

    /// Group and kind.
    pub fn kind_name(&self) -> GroupResource<'static> {
        GroupResource { group: self.kind.group, resource: self.kind.kind }
    }

    /// The declared subresource of this name.
    pub fn subresource(&self, name: &str) -> Option<&'static SubresourceDef> {
        self.resource.subresources.iter().find(|s| s.name == name)
    }

    /// The Go package of upstream's internal type, which a few messages show.
    pub fn internal_package(&self) -> &'static str {
        match self.kind.group {
            "" | "events.k8s.io" => "core",
            group => group.split('.').next().unwrap_or(group),
        }
    }

    /// The store, or the error that there is none.
    pub fn store(&self) -> Result<&Arc<ResourceStore>, Status> {
        self.store.as_ref().ok_or_else(|| Status::not_implemented(&format!("{} in storage", self.name())))
    }
}
