//! Documents of custom resources (upstream:
//! `apiextensions-apiserver/pkg/controller/openapi/builder`).
//!
//! They are built apart from those of built-in resources, because upstream's differ in some
//! details.

mod definition;
mod lossy;
mod resource;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::catalog::{Catalog, GroupVersion, GroupVersionKind, Resource, Serving, Subresource, SubresourceResponse};
use crate::item::{Item, Operation};
use crate::options::{OpenApiOptions, kinds_of_all};
use crate::paths::ResourcePaths;
use crate::references::{SCHEMAS, closure};
use crate::{media, names, v2, v3};
pub use resource::CustomResource;
use resource::OpenApiVersion;

const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

impl Catalog {
    /// The v3 document of the custom resources of one group version. Definitions of built-in types
    /// come from this catalog.
    pub fn custom_v3(&self, options: &OpenApiOptions, resources: &[CustomResource]) -> Value {
        let catalog = self.custom(resources, OpenApiVersion::V3);
        let items = items(&catalog);
        let used = closure(SCHEMAS, |name| catalog.definitions.get(name), items.iter().flat_map(Item::definitions));
        let mut document = v3::document(&catalog, options, catalog.versions.first(), &items, &used);
        // As upstream, which builds the documents of custom resources without the server's own
        // information.
        document["info"] = json!({"title": "Kubernetes CRD Swagger", "version": "v0.1.0"});
        if let Some(components) = document["components"].as_object_mut() {
            components.remove("securitySchemes");
            if let Some(options) = components["schemas"].get_mut(names::DELETE_OPTIONS) {
                options["x-kubernetes-group-version-kind"] = kinds_of_all(self, names::DELETE_OPTIONS);
            }
        }
        document
    }

    /// A v2 document of custom resources only, to be merged into the document of the server.
    pub fn custom_v2(&self, options: &OpenApiOptions, resources: &[CustomResource]) -> Value {
        let catalog = self.custom(resources, OpenApiVersion::V2);
        let items = items(&catalog);
        let used = closure(SCHEMAS, |name| catalog.definitions.get(name), items.iter().flat_map(Item::definitions));
        v2::document(&catalog, options, &items, &used)
    }

    /// A catalog of these resources, with the definitions that they refer to.
    fn custom(&self, resources: &[CustomResource], form: OpenApiVersion) -> Catalog {
        let declared =
            [names::OBJECT_META, names::LIST_META, names::STATUS, names::DELETE_OPTIONS, names::PATCH, names::SCALE];
        let declared = closure(SCHEMAS, |name| self.definitions.get(name), declared);
        let declared = declared.into_iter().filter_map(|name| self.definitions.get_key_value(name));
        let mut definitions: BTreeMap<String, Value> =
            declared.map(|(name, schema)| (name.clone(), schema.clone())).collect();
        let mut versions: BTreeMap<(&str, &str), Vec<Resource>> = BTreeMap::new();
        for custom in resources {
            definitions.insert(custom.model(&custom.kind), definition::of_kind(self, custom, form));
            definitions.insert(custom.model(&custom.list_kind), definition::of_list(self, custom));
            versions.entry((&custom.group, &custom.version)).or_default().push(custom.resource());
        }
        let version = |((group, version), resources): ((&str, &str), Vec<Resource>)| GroupVersion {
            group: group.into(),
            version: version.into(),
            serving: Serving::On,
            resources,
        };
        Catalog {
            definitions,
            parameters: self.parameters.clone(),
            known_versions: self.known_versions.clone(),
            versions: versions.into_iter().map(version).collect(),
        }
    }
}

impl CustomResource {
    /// The definition name of a kind: `com.example.stable.v1.CronTab`.
    fn model(&self, kind: &str) -> String {
        let reversed: Vec<&str> = self.group.split('.').rev().collect();
        format!("{}.{}.{kind}", reversed.join("."), self.version)
    }

    fn resource(&self) -> Resource {
        let verbs = |verbs: &[&str]| verbs.iter().map(|verb| (*verb).to_owned()).collect();
        let kind =
            GroupVersionKind { group: self.group.clone(), version: self.version.clone(), kind: self.kind.clone() };
        let subresource = |name: &str, definition: String| Subresource {
            name: name.into(),
            kind: kind.clone(),
            verbs: verbs(&SUBRESOURCE_VERBS),
            answer: SubresourceResponse::Object(definition),
        };
        let status = self.has_status.then(|| subresource("status", self.model(&self.kind)));
        let scale = self.has_scale.then(|| subresource("scale", names::SCALE.into()));
        Resource {
            plural: self.plural.clone(),
            kind: self.kind.clone(),
            definition: self.model(&self.kind),
            list: Some(self.model(&self.list_kind)),
            scope: self.scope,
            serving: Serving::On,
            verbs: verbs(&VERBS),
            delete_returns_object: false,
            watch_paths: false,
            subresources: status.into_iter().chain(scale).collect(),
        }
    }
}

fn items(catalog: &Catalog) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = catalog
        .versions
        .iter()
        .flat_map(|version| version.resources.iter().map(move |resource| (version, resource)))
        .flat_map(|(version, resource)| ResourcePaths::new(catalog, version, resource).items())
        .collect();
    for operation in items.iter_mut().flat_map(|item| &mut item.operations) {
        adjust_operation(catalog, operation);
    }
    items.sort_by(|a, b| a.path.cmp(&b.path));
    items
}

/// Adjusts an operation where upstream's documents of custom resources differ.
fn adjust_operation<'a>(catalog: &'a Catalog, operation: &mut Operation<'a>) {
    let list = &catalog.parameters.list;
    operation.consumes = media::CUSTOM;
    operation.produces = media::CUSTOM;
    match operation.action {
        Some("get") => operation.query.extend(list.iter().filter(|parameter| parameter.name == "resourceVersion")),
        Some("patch") => {
            operation.consumes = media::PATCH_CUSTOM;
            operation.answers.truncate(1);
        }
        Some("deletecollection") => {
            // The first parameter is common to all operations.
            operation.query.truncate(1);
            operation.query.extend(list);
            operation.body = None;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
