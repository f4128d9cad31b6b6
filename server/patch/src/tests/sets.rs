//! Sets of fields and their text form.

use serde_json::{Value, json};

use crate::field_set::{FieldSet, Filter, PathElementMatcher};

fn set(fields: Value) -> FieldSet {
    FieldSet::from_value(&fields).unwrap()
}

#[test]
fn text_is_read_and_written_in_upstreams_order() {
    let check = |fields: Value, expect: &str| assert_eq!(set(fields).to_value().to_string(), expect);
    check(json!({}), "{}");
    check(json!({"f:b": {}, "f:a": {".": {}, "f:x": {}}}), r#"{"f:a":{".":{},"f:x":{}},"f:b":{}}"#);
    check(
        json!({"v:\"x\"": {}, "i:1": {}, "k:{\"protocol\":\"TCP\",\"containerPort\":80}": {".": {}, "f:name": {}}, "f:z": {}}),
        r#"{"f:z":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}},"v:\"x\"":{},"i:1":{}}"#,
    );
    check(json!({"k:{\"port\":443}": {}, "k:{\"port\":80}": {}}), r#"{"k:{\"port\":80}":{},"k:{\"port\":443}":{}}"#);
    check(json!({"x:new": {}, "f:a": {}}), r#"{"f:a":{}}"#);
    for unreadable in [json!({"q": {}}), json!({"fx": {}}), json!({"v:{": {}}), json!({"f:a": 1}), json!([])] {
        assert!(FieldSet::from_value(&unreadable).is_err(), "{unreadable}");
    }
}

/// A fuzz target found that a set with this key differed from the set parsed from its own text.
#[test]
fn negative_zero_in_a_key_is_zero() {
    let negative = set(json!({"k:{\"port\":-0}": {}}));
    assert_eq!(FieldSet::from_value(&negative.to_value()).as_ref(), Ok(&negative));
    assert_eq!(negative, set(json!({"k:{\"port\":0}": {}})));
    assert_ne!(negative, set(json!({"k:{\"port\":-0.5}": {}})));
}

#[test]
fn set_algebra() {
    let a = set(json!({"f:m": {".": {}, "f:x": {}, "f:y": {}}, "f:n": {}}));
    let b = set(json!({"f:m": {"f:x": {}}, "f:o": {}}));
    let show = |set: &FieldSet| set.to_value().to_string();
    assert_eq!(show(&a.clone().union(b.clone())), r#"{"f:m":{".":{},"f:x":{},"f:y":{}},"f:n":{},"f:o":{}}"#);
    assert_eq!(show(&a.intersection(&b)), r#"{"f:m":{"f:x":{}}}"#);
    assert_eq!(show(&a.clone().difference(&b)), r#"{"f:m":{".":{},"f:y":{}},"f:n":{}}"#);
    let top = set(json!({"f:m": {}}));
    assert_eq!(show(&a.clone().difference(&top)), r#"{"f:m":{"f:x":{},"f:y":{}},"f:n":{}}"#);
    assert_eq!(show(&a.clone().recursive_difference(&top)), r#"{"f:n":{}}"#);
    assert_eq!(a.to_string(), ".m\n.n\n.m.x\n.m.y");
}

#[test]
fn filters_remove_fields_that_an_endpoint_cannot_own() {
    let owned = set(
        json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}, "f:resources": {"f:cpu": {}}}}}, "f:status": {"f:phase": {}}}),
    );
    let shown = |filter: Filter| filter.apply(owned.clone()).to_value().to_string();
    let status = FieldSet::of_names([&["status"] as &[&str], &["spec"]]);
    assert_eq!(shown(Filter::Exclude(status)), "{}");
    let path = vec![
        PathElementMatcher::Field("spec"),
        PathElementMatcher::Field("containers"),
        PathElementMatcher::Any,
        PathElementMatcher::Field("resources"),
    ];
    assert_eq!(
        shown(Filter::Include(vec![path])),
        r#"{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:resources":{"f:cpu":{}}}}}}"#
    );
}
