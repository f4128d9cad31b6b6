//! The document of one group version of custom resources.

use std::sync::{Arc, OnceLock};

use openapi::custom::CustomResource;
use openapi::{Catalog, Options, Scope};

use super::{Document, hash};
use crate::endpoint::Endpoint;

/// Made when somebody asks for it; known by its hash before.
pub(super) struct CustomDocument {
    pub hash: String,
    /// Sorted by plural.
    served: Vec<Arc<Endpoint>>,
    document: OnceLock<Document>,
}

impl CustomDocument {
    pub(super) fn new(options: &Options, mut served: Vec<Arc<Endpoint>>) -> Self {
        served.sort_by_key(|endpoint| endpoint.resource.plural);
        // Another release may say other things of the same definitions.
        let mut sources = options.version.clone();
        for endpoint in &served {
            let revision = endpoint.open.as_ref().map(|open| open.revision()).unwrap_or_default();
            let (kind, resource) = (endpoint.kind, endpoint.resource);
            sources += &format!("\n{revision} {} {} {}", resource.plural, kind.kind, kind.list_kind);
        }
        CustomDocument { hash: hash(sources.as_bytes()), served, document: OnceLock::new() }
    }

    pub(super) fn resources(&self) -> impl Iterator<Item = CustomResource> + '_ {
        self.served.iter().map(|endpoint| resource(endpoint))
    }

    pub(super) fn document(&self, catalog: &Catalog, options: &Options) -> &Document {
        self.document.get_or_init(|| {
            let resources: Vec<CustomResource> = self.resources().collect();
            Document { hash: self.hash.clone(), ..Document::new(&catalog.custom_v3(options, &resources)) }
        })
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
