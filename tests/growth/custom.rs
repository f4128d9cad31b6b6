//! A custom resource with each kind of list and map.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::fields::Place;
use crate::samples::SERIAL;
use crate::target::{Method, SetUp, Target};

/// The definition of the resource.
pub fn definition() -> Value {
    let item = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "maxLength": 64}, "value": {"type": "string", "maxLength": 64}, "port": {"type": "integer", "default": 1}}});
    let names = json!({"type": "string", "maxLength": 64});
    let spec = json!({"type": "object", "properties": {
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": item},
        "keys": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"],
            "items": item},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": names},
        "atomic": {"type": "array", "x-kubernetes-list-type": "atomic", "items": item},
        "plain": {"type": "array", "items": item},
        "ruled": {"type": "array", "maxItems": 100_000, "items": names,
            "x-kubernetes-validations": [{"rule": "self.size() >= oldSelf.size() || true"}]},
        "transitions": {"type": "array", "maxItems": 10_000, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string", "maxLength": 64}},
                "x-kubernetes-validations": [{"rule": "self.name == oldSelf.name"}]}},
        "chosen": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "objects": {"type": "object", "additionalProperties": item},
        "unknown": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "embedded": {"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "growths.growth.example.com"},
        "spec": {"group": "growth.example.com", "scope": "Namespaced",
            "names": {"plural": "growths", "singular": "growth", "kind": "Growth", "listKind": "GrowthList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}})
}

/// The path of the collection.
pub const COLLECTION: &str = "/apis/growth.example.com/v1/namespaces/default/growths";

pub fn target() -> Target {
    let object = json!({"apiVersion": "growth.example.com/v1", "kind": "Growth",
        "metadata": {"name": format!("growth-{SERIAL}")},
        "spec": {"embedded": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}}});
    let methods =
        [Method::Create, Method::Update, Method::JsonPatch, Method::JsonPatchEach, Method::MergePatch, Method::Apply];
    Target {
        collection: COLLECTION.into(),
        subresource: "",
        body: object.clone(),
        object,
        kind: None,
        methods: methods.into(),
        set_up: SetUp::Stored,
    }
}

pub fn places(target: &Arc<Target>) -> Vec<Place> {
    let item = json!({"name": "e@", "value": "a"});
    let (named, text) = (json!({"name": "e@"}), json!("e@"));
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "e@", "uid": "e@"});
    let places: [(&[&str], &Value, bool); 19] = [
        (&["metadata", "labels"], &text, true),
        (&["metadata", "annotations"], &text, true),
        (&["metadata", "finalizers"], &json!("example.com/e@"), false),
        (&["metadata", "ownerReferences"], &owner, false),
        (&["spec", "map"], &item, false),
        (&["spec", "keys"], &item, false),
        (&["spec", "set"], &text, false),
        (&["spec", "atomic"], &item, false),
        (&["spec", "plain"], &item, false),
        (&["spec", "ruled"], &text, false),
        (&["spec", "transitions"], &named, false),
        (&["spec", "chosen"], &text, false),
        (&["spec", "labels"], &text, true),
        (&["spec", "objects"], &item, true),
        (&["spec", "unknown"], &item, true),
        (&["spec", "embedded", "metadata", "labels"], &text, true),
        (&["spec", "embedded", "metadata", "finalizers"], &text, false),
        (&["spec", "embedded", "data"], &text, true),
        (&["spec", "pruned"], &item, true),
    ];
    places.into_iter().map(|(steps, element, is_map)| Place::of_custom(target, steps, element, is_map)).collect()
}
