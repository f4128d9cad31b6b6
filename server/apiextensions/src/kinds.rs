//! Descriptors of kinds that are made at run time. The core keeps `&'static` descriptors everywhere, so these are interned: equal facts share
//! one leaked value, and memory grows with the number of different definitions only (`docs/decisions/0005-interned-kinds.md`).

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

/// All that a kind's descriptor says, in one version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Facts {
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
    /// Whether all objects are being deleted: then fewer verbs are told of.
    terminating: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Scale {
    replicas: String,
    observed: String,
    selector: String,
}

/// The verbs of custom resources, in the order in which upstream tells of them.
const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const TERMINATING_VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// The descriptor of a definition's kind in one of its versions, by the names that were accepted.
pub fn of(
    definition: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
    terminating: bool,
) -> &'static KindDef {
    intern(facts(definition, version, terminating))
}

fn facts(definition: &CustomResourceDefinition, version: &CustomResourceDefinitionVersion, terminating: bool) -> Facts {
    let (spec, names) = (&definition.spec, &definition.status.accepted_names);
    let subresources = version.subresources.as_deref();
    Facts {
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

/// A path without its leading dot.
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

fn intern(facts: Facts) -> &'static KindDef {
    static KINDS: OnceLock<Mutex<HashMap<Facts, &'static KindDef>>> = OnceLock::new();
    let mut kinds = KINDS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kinds.get(&facts) {
        return known;
    }
    let made = leak(make(&facts));
    kinds.insert(facts, made);
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

fn make(facts: &Facts) -> KindDef {
    let (group, version, kind) = (text(&facts.group), text(&facts.version), text(&facts.kind));
    KindDef {
        group,
        version,
        kind,
        def: Unstructured::def(),
        model: text(&model_name(&facts.group, &facts.version, &facts.kind)),
        serving: Serving::On,
        conversion: None,
        hub: Unstructured::def(),
        lifecycle: Lifecycle { introduced: "", deprecated: "", removed: "", replacement: "" },
        resource: Some(leak(resource(facts, (group, version, kind)))),
        list_kind: text(&facts.list_kind),
        gate: "",
    }
}

/// `com.example.stable.v1.CronTab`
pub fn model_name(group: &str, version: &str, kind: &str) -> String {
    let reversed: Vec<&str> = group.split('.').rev().collect();
    format!("{}.{version}.{kind}", reversed.join("."))
}

fn resource(facts: &Facts, kind: (&'static str, &'static str, &'static str)) -> ResourceDef {
    ResourceDef {
        plural: text(&facts.plural),
        singular: text(&facts.singular),
        short_names: texts(&facts.short_names),
        categories: texts(&facts.categories),
        namespaced: facts.namespaced,
        verbs: if facts.terminating { &TERMINATING_VERBS } else { &VERBS },
        key_prefix: text(&format!("{}/{}", facts.group, facts.plural)),
        stored_as_json: true,
        storage: (kind.0, text(&facts.storage_version)),
        subresources: subresources(facts, kind),
        columns: &[],
        selectable: Vec::leak(facts.selectable.iter().map(|path| selectable(path)).collect()),
        create_on_update: false,
        unconditional_update: false,
        delete_returns_object: false,
        garbage_collection: GarbageCollection::Delete,
        graceful_delete: false,
        orphan_warning: "",
        label_error: "field label not supported: {label}",
        generation: Generation::Values,
        resets: if facts.has_status { &["status"] } else { &[] },
        name_rule: NameRule::Dns1123Subdomain,
        metadata_check: MetadataCheck::Change,
        qualified_finalizers: false,
        tagged_validation: false,
        watch_cache: true,
        hooks: Hooks::NONE,
    }
}

fn subresources(facts: &Facts, kind: (&'static str, &'static str, &'static str)) -> &'static [SubresourceDef] {
    let status = || SubresourceDef::new("status", kind).verbs(&SUBRESOURCE_VERBS).resets(&["metadata", "spec"]);
    let scale = |paths: &Scale| {
        let (replicas, observed) = (text(&paths.replicas), text(&paths.observed));
        let def = SubresourceDef::new("scale", ("autoscaling", "v1", "Scale")).verbs(&SUBRESOURCE_VERBS);
        def.scale(replicas, observed, text(&paths.selector))
    };
    let all = facts.has_status.then(status).into_iter().chain(facts.scale.as_ref().map(scale));
    Vec::leak(all.collect())
}

/// A field that selectors may name; also used where values are read for all versions at once.
pub fn selectable(path: &str) -> SelectableDef {
    let names: &'static [&'static str] = Vec::leak(path.split('.').map(text).collect());
    SelectableDef { label: text(path), value: Selected::Path(names), reads: leak([names]) }
}

#[cfg(test)]
mod tests {
    use apimachinery::apiextensions::v1::CustomResourceColumnDefinition;

    use super::*;

    /// A definition's columns are not a part of its descriptor, which lives as long as the process.
    #[test]
    fn a_change_of_columns_keeps_the_descriptor() {
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
