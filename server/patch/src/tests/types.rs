//! Typed documents: the fields that they set, comparison, merge.

use serde_json::{Value, json};

use super::fixture::{ObjectMeta, deployment};
use crate::FieldSet;
use crate::schema::{CustomType, SchemaType};
use crate::typed::{Duplicates, compare, merge, remove_items, to_field_set, validate};
use machinery::reflect::Struct;

fn of() -> SchemaType<'static> {
    SchemaType::Struct(deployment())
}

#[test]
fn to_field_set_has_the_fields_that_a_document_sets() {
    let check = |spec: Value, expect: &str| {
        assert_eq!(
            to_field_set(of(), &json!({"spec": spec})).to_value().to_string(),
            format!("{{\"f:spec\":{expect}}}")
        );
    };
    check(json!({"replicas": 1}), r#"{"f:replicas":{}}"#);
    check(
        json!({"selector": {"a": "b"}, "nodeSelector": {"c": "d"}}),
        r#"{"f:nodeSelector":{"f:c":{}},"f:selector":{}}"#,
    );
    check(json!({"strategy": {}, "nodeSelector": null}), r#"{"f:nodeSelector":{},"f:strategy":{}}"#);
    check(
        json!({"containers": [{"name": "a", "args": ["x"], "limits": {"cpu": "1"}, "ports": [{"containerPort": 80}]}]}),
        r#"{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:args":{},"f:limits":{"f:cpu":{}},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}"#,
    );
    check(
        json!({"containers": [{"name": "a", "image": "x"}, {"name": "a"}]}),
        r#"{"f:containers":{"k:{\"name\":\"a\"}":{}}}"#,
    );
}

#[test]
fn compare_reports_changed_fields() {
    let check = |old: Value, new: Value, expect: [&str; 3]| {
        let changes = compare(of(), &json!({"spec": old}), &json!({"spec": new}));
        let shown = [changes.added, changes.modified, changes.removed].map(|set| set.to_string());
        assert_eq!(shown, expect.map(String::from));
    };
    check(json!({"replicas": 1}), json!({"replicas": 1.0}), ["", "", ""]);
    check(json!({"replicas": 1}), json!({"replicas": 2, "paused": true}), [".spec.paused", ".spec.replicas", ""]);
    check(json!({}), json!({"nodeSelector": {"a": "b"}}), [".spec.nodeSelector\n.spec.nodeSelector.a", "", ""]);
    check(json!({"nodeSelector": {"a": "b"}}), json!({"nodeSelector": {}}), ["", "", ".spec.nodeSelector.a"]);
    check(json!({"selector": {"a": "b"}}), json!({"selector": {"a": "c"}}), ["", ".spec.selector", ""]);
    check(
        json!({"containers": [{"name": "a"}, {"name": "b"}]}),
        json!({"containers": [{"name": "b", "image": "x"}, {"name": "c"}]}),
        [
            ".spec.containers[name=\"c\"]\n.spec.containers[name=\"b\"].image\n.spec.containers[name=\"c\"].name",
            "",
            ".spec.containers[name=\"a\"]\n.spec.containers[name=\"a\"].name",
        ],
    );
}

#[test]
fn the_applied_order_takes_precedence_over_the_live_one() {
    let check = |live: &[&str], config: &[&str], expect: &[&str]| {
        let list = |names: &[&str]| json!({"metadata": {"finalizers": names}});
        assert_eq!(merge(of(), &list(live), &list(config)), list(expect));
    };
    check(&["a", "b", "c"], &["c", "a"], &["b", "c", "a"]);
    check(&["a", "b"], &["x", "b"], &["a", "x", "b"]);
    check(&["a", "b", "c", "d"], &["b", "d"], &["a", "b", "c", "d"]);
    check(&[], &["x"], &["x"]);
}

#[test]
fn removed_parts_leave_empty_containers() {
    let document =
        json!({"spec": {"nodeSelector": {"a": "1"}, "containers": [{"name": "a", "args": ["x"]}, {"name": "b"}]}});
    let fields = json!({"f:spec": {"f:nodeSelector": {"f:a": {}}, "f:containers": {"k:{\"name\":\"b\"}": {}, "k:{\"name\":\"a\"}": {"f:args": {}}}}});
    let left = remove_items(of(), &document, &FieldSet::from_value(&fields).unwrap());
    assert_eq!(left, json!({"spec": {"nodeSelector": {}, "containers": [{"name": "a"}]}}));
}

#[test]
fn wrong_types_have_upstream_messages() {
    let check = |document: Value, expect: &str| {
        assert_eq!(validate(of(), &document, Duplicates::Refused).unwrap_err().to_string(), expect);
    };
    check(json!({"unknown": 1}), ".unknown: field not declared in schema");
    check(
        json!({"metadata": {"labels": {"k": 5}}}),
        ".metadata.labels.k: expected string, got &value.valueUnstructured{Value:5}",
    );
    check(json!({"metadata": {"labels": "x"}}), ".metadata.labels: expected map, got &{x}");
    check(json!({"metadata": {"labels": []}}), ".metadata.labels: expected map, got &{[]}");
    check(json!({"spec": {"replicas": "3"}}), ".spec.replicas: expected numeric (int or float), got string");
    check(json!({"spec": {"paused": "true"}}), ".spec.paused: expected boolean, got &{true}");
    check(json!({"spec": {"containers": {"name": "a"}}}), ".spec.containers: expected list, got &{map[name:a]}");
    check(json!({"metadata": {"finalizers": ["d", "d"]}}), ".metadata.finalizers: duplicate entries for key [=\"d\"]");
    check(
        json!({"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]}]}}),
        ".spec.containers[name=\"a\"].ports: duplicate entries for key [containerPort=80,protocol=\"TCP\"]",
    );
    check(
        json!({"metadata": 2, "x": 1}),
        "errors:\n  .metadata: expected map, got &{2}\n  .x: field not declared in schema",
    );
}

#[test]
fn custom_types_follow_their_schema() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "plain": {"type": "array", "items": {"type": "string"}},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items":
            {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}});
    let custom = CustomType::of_resource(&schema, ObjectMeta::def());
    let of = SchemaType::Custom(&custom);
    let object = json!({"metadata": {"labels": {"a": "b"}}, "spec":
        {"plain": ["x"], "tags": ["t"], "parts": [{"name": "n", "size": 1}], "any": {"deep": {"x": [1]}}}});
    assert!(validate(of, &object, Duplicates::Refused).is_ok());
    assert_eq!(
        to_field_set(of, &object).to_string(),
        ".metadata.labels.a\n.spec.plain\n.spec.any.deep\n.spec.any.deep.x\n.spec.parts[name=\"n\"]\n.spec.parts[name=\"n\"].name\n.spec.parts[name=\"n\"].size\n.spec.tags[=\"t\"]"
    );
    let wrong = json!({"spec": {"wrong": 1}});
    assert_eq!(
        validate(of, &wrong, Duplicates::Refused).unwrap_err().to_string(),
        ".spec.wrong: field not declared in schema"
    );
}
