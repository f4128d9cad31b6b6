//! The document of one group version of custom resources.

use std::sync::{Arc, OnceLock};

use openapi::custom::CustomResource;
use openapi::{Catalog, OpenApiOptions, Scope};
use serde_json::Value;

use super::Lazy;
use crate::endpoint::Endpoint;

/// The document of a group version, built on the first request. Until then it holds only a list of
/// endpoints.
pub(super) struct CustomDocument {
    release: String,
    /// Sorted by plural.
    served: Vec<Arc<Endpoint>>,
    document: OnceLock<Lazy>,
}

impl CustomDocument {
    pub(super) fn new(options: &OpenApiOptions, served: Vec<Arc<Endpoint>>) -> Self {
        CustomDocument { release: options.version.clone(), served, document: OnceLock::new() }
    }

    pub(super) fn hash(&self) -> &str {
        &self.document().hash
    }

    pub(super) fn document(&self) -> &Lazy {
        self.document.get_or_init(|| {
            // Another release may publish other documents for the same definitions.
            let mut sources = self.release.clone();
            for endpoint in &self.served {
                let revision = endpoint.open.as_ref().map(|open| open.revision()).unwrap_or_default();
                let (kind, resource) = (endpoint.kind, endpoint.resource);
                sources += &format!("\n{revision} {} {} {}", resource.plural, kind.kind, kind.list_kind);
            }
            Lazy::new(&sources)
        })
    }

    pub(super) fn resources(&self) -> impl Iterator<Item = CustomResource> + '_ {
        self.served.iter().map(|endpoint| resource(endpoint))
    }

    pub(super) fn make(&self, catalog: &Catalog, options: &OpenApiOptions) -> Value {
        let resources: Vec<CustomResource> = self.resources().collect();
        catalog.custom_v3(options, &resources)
    }
}

fn resource(endpoint: &Endpoint) -> CustomResource {
    let (kind, resource) = (endpoint.kind, endpoint.resource);
    let has = |name: &str| resource.subresources.iter().any(|subresource| subresource.name == name);
    CustomResource {
        group: kind.group.to_owned(),
        version: kind.version.to_owned(),
        plural: resource.plural.to_owned(),
        kind: kind.kind.to_owned(),
        list_kind: kind.list_kind.to_owned(),
        scope: if resource.namespaced { Scope::Namespaced } else { Scope::Cluster },
        schema: endpoint.open.as_ref().and_then(|open| open.schema()),
        preserves_unknown_fields: endpoint.open.as_ref().is_some_and(|open| open.preserves_unknown_fields()),
        selectable: resource.selectable.iter().map(|field| field.label.to_owned()).collect(),
        has_status: has("status"),
        has_scale: has("scale"),
    }
}
