//! Descriptors of kinds that are created at run time. The core requires `&'static` descriptors, so
//! they are leaked and interned. Memory grows only with the number of different definitions
//! (`docs/decisions/0005-interned-kinds.md`).

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use apimachinery::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, CustomResourceSubresources, resource_scope,
};
use machinery::catalog::{
    GarbageCollection, Generation, KindDef, Lifecycle, MetadataCheck, ResourceDef, SelectableDef, Selected, Serving,
    SubresourceDef,
};
use machinery::format::NameRule;
use machinery::hooks::Hooks;
use machinery::reflect::Struct;

use crate::unstructured::Unstructured;

/// The content of a kind's descriptor in one version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct DescriptorKey {
    group: String,
    version: String,
    kind: String,
    list_kind: String,
    plural: String,
    singular: String,
    short_names: Vec<String>,
    categories: Vec<String>,
    namespaced: bool,
    storage_version: String,
    has_status: bool,
    scale: Option<Scale>,
    selectable: Vec<String>,
    /// Whether the definition is terminating. Discovery then has fewer verbs.
    terminating: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Scale {
    replicas: String,
    observed: String,
    selector: String,
}

/// Verbs of custom resources, in upstream's discovery order.
const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const TERMINATING_VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// Returns the descriptor of a definition's kind in a version, with the accepted names.
pub fn of(
    definition: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
    terminating: bool,
) -> &'static KindDef {
    intern(key(definition, version, terminating))
}

fn key(
    definition: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
    terminating: bool,
) -> DescriptorKey {
    let (spec, names) = (&definition.spec, &definition.status.accepted_names);
    let subresources = version.subresources.as_deref();
    DescriptorKey {
        group: spec.group.clone(),
        version: version.name.clone(),
        kind: names.kind.clone(),
        list_kind: names.list_kind.clone(),
        plural: names.plural.clone(),
        singular: names.singular.clone(),
        short_names: names.short_names.clone(),
        categories: names.categories.clone(),
        namespaced: spec.scope == resource_scope::NAMESPACED,
        storage_version: spec.versions.iter().find(|v| v.storage).map_or(String::new(), |v| v.name.clone()),
        has_status: subresources.is_some_and(|subresources| subresources.status.is_some()),
        scale: subresources.and_then(scale),
        selectable: version.selectable_fields.iter().map(|field| undotted(&field.json_path).to_owned()).collect(),
        terminating,
    }
}

/// Returns a path without its leading dot.
pub fn undotted(path: &str) -> &str {
    path.strip_prefix('.').unwrap_or(path)
}

fn scale(subresources: &CustomResourceSubresources) -> Option<Scale> {
    let scale = subresources.scale.as_ref()?;
    Some(Scale {
        replicas: undotted(&scale.spec_replicas_path).to_owned(),
        observed: undotted(&scale.status_replicas_path).to_owned(),
        selector: undotted(scale.label_selector_path.as_deref().unwrap_or("")).to_owned(),
    })
}

fn intern(key: DescriptorKey) -> &'static KindDef {
    static KINDS: OnceLock<Mutex<HashMap<DescriptorKey, &'static KindDef>>> = OnceLock::new();
    let mut kinds = KINDS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kinds.get(&key) {
        return known;
    }
    let made = leak(make(&key));
    kinds.insert(key, made);
    made
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn text(text: &str) -> &'static str {
    String::leak(text.to_owned())
}

fn texts(texts: &[String]) -> &'static [&'static str] {
    Vec::leak(texts.iter().map(|one| text(one)).collect())
}

fn make(key: &DescriptorKey) -> KindDef {
    let (group, version, kind) = (text(&key.group), text(&key.version), text(&key.kind));
    KindDef {
        group,
        version,
        kind,
        def: Unstructured::def(),
        model: text(&model_name(&key.group, &key.version, &key.kind)),
        serving: Serving::On,
        conversion: None,
        hub: Unstructured::def(),
        lifecycle: Lifecycle { introduced: "", deprecated: "", removed: "", replacement: "" },
        resource: Some(leak(resource(key, (group, version, kind)))),
        list_kind: text(&key.list_kind),
        gate: "",
    }
}

/// `com.example.stable.v1.CronTab`
pub fn model_name(group: &str, version: &str, kind: &str) -> String {
    let reversed: Vec<&str> = group.split('.').rev().collect();
    format!("{}.{version}.{kind}", reversed.join("."))
}

fn resource(key: &DescriptorKey, kind: (&'static str, &'static str, &'static str)) -> ResourceDef {
    ResourceDef {
        plural: text(&key.plural),
        singular: text(&key.singular),
        short_names: texts(&key.short_names),
        categories: texts(&key.categories),
        namespaced: key.namespaced,
        verbs: if key.terminating { &TERMINATING_VERBS } else { &VERBS },
        key_prefix: text(&format!("{}/{}", key.group, key.plural)),
        stored_as_json: true,
        storage: (kind.0, text(&key.storage_version)),
        subresources: subresources(key, kind),
        columns: &[],
        selectable: Vec::leak(key.selectable.iter().map(|path| selectable(path)).collect()),
        create_on_update: false,
        unconditional_update: false,
        delete_returns_object: false,
        garbage_collection: GarbageCollection::Delete,
        graceful_delete: false,
        orphan_warning: "",
        label_error: "field label not supported: {label}",
        generation: Generation::Values,
        resets: if key.has_status { &["status"] } else { &[] },
        name_rule: NameRule::Dns1123Subdomain,
        metadata_check: MetadataCheck::Change,
        qualified_finalizers: false,
        tagged_validation: false,
        watch_cache: true,
        hooks: Hooks::NONE,
    }
}

fn subresources(key: &DescriptorKey, kind: (&'static str, &'static str, &'static str)) -> &'static [SubresourceDef] {
    let status = || SubresourceDef::new("status", kind).verbs(&SUBRESOURCE_VERBS).resets(&["metadata", "spec"]);
    let scale = |paths: &Scale| {
        let (replicas, observed) = (text(&paths.replicas), text(&paths.observed));
        let def = SubresourceDef::new("scale", ("autoscaling", "v1", "Scale")).verbs(&SUBRESOURCE_VERBS);
        def.scale(replicas, observed, text(&paths.selector))
    };
    let all = key.has_status.then(status).into_iter().chain(key.scale.as_ref().map(scale));
    Vec::leak(all.collect())
}

/// Creates a selectable field. Also used to read values for all versions at once.
pub fn selectable(path: &str) -> SelectableDef {
    let names: &'static [&'static str] = Vec::leak(path.split('.').map(text).collect());
    SelectableDef { label: text(path), value: Selected::Path(names), reads: leak([names]) }
}

#[cfg(test)]
mod tests {
    use apimachinery::apiextensions::v1::CustomResourceColumnDefinition;

    use super::*;

    /// Columns of a definition are not part of its descriptor, which is never freed.
    #[test]
    fn columns_do_not_change_descriptor() {
        let definition = CustomResourceDefinition::default();
        let with_column = |name: &str| {
            let column = CustomResourceColumnDefinition {
                name: name.into(),
                r#type: "string".into(),
                json_path: ".spec.a".into(),
                ..Default::default()
            };
            let additional_printer_columns = vec![column];
            CustomResourceDefinitionVersion { name: "v1".into(), additional_printer_columns, ..Default::default() }
        };
        let (first, second) = (with_column("A"), with_column("B"));
        assert!(std::ptr::eq(of(&definition, &first, false), of(&definition, &second, false)));
        let columns = crate::columns::of(&second);
        assert_eq!(columns.iter().map(|column| &*column.definition.name).collect::<Vec<_>>(), ["B"]);
    }
}
