//! Tests of schemas with rules.

use apimachinery::apiextensions::v1::{CustomResourceDefinition, JSONSchemaProps};
use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json::{self, Issues};
use machinery::reflect::Mut;
use serde_json::{Value, json};

use super::openapi::{self, Requirements};
use super::{cost, defaults, served_natively};

fn faults(schema: &Value) -> Vec<String> {
    let mut props = JSONSchemaProps::default();
    json::from_value(schema, Mut::of(&mut props), &mut Issues::ignore()).expect("a schema");
    let path = Path::new("schema");
    let mut found = defaults::check(&WriteContext::default(), &path, &props, true);
    if found.is_empty() {
        found = openapi::check(&path, &props, Requirements::ALL, true);
    }
    found.iter().map(ToString::to_string).collect()
}

/// Returns a schema of an object with one property.
fn with(property: Value) -> Value {
    json!({"type": "object", "properties": {"a": property}})
}

#[test]
fn warns_of_definition_in_native_group() {
    let mut definition = CustomResourceDefinition::default();
    for (group, is_warned) in [("shop.example.com", true), ("ci.example.com", false)] {
        definition.spec.group = group.into();
        let warning = served_natively(&definition, &["shop.example.com"]);
        assert_eq!(warning.is_some_and(|text| text.contains("this definition has no effect")), is_warned, "{group}");
    }
}

#[test]
fn rejects_expensive_rules() {
    let numbers = |more: Value| {
        let mut list = json!({"type": "array", "items": {"type": "integer"}});
        list.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        list
    };
    let rule = |text: &str| json!({"x-kubernetes-validations": [{"rule": text}]});
    let both = "self.all(x, x > 0 && x < 100)";
    for (property, expect) in [
        (numbers(rule("self.all(x, x > 0)")), ""),
        (numbers(rule(both)), "estimated rule cost exceeds budget by factor of 1.1010"),
        (numbers(json!({"maxItems": 1000, "x-kubernetes-validations": [{"rule": both}]})), ""),
        (numbers(rule("self.all(x, self.all(y, x == y))")), "exceeds budget by factor of more than 100x"),
        (json!({"type": "array", "items": numbers(rule("self.all(x, x > 0)"))}), "more than 100x"),
        (json!({"type": "array", "maxItems": 2, "items": numbers(rule("self.all(x, x > 0)"))}), "factor of 1.6x"),
    ] {
        let messages = faults(&with(property.clone())).join("; ");
        assert!(messages.contains(expect) && (messages.is_empty() == expect.is_empty()), "{property}: {messages}");
    }
    let dear = json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}]});
    let messages = faults(&with(dear));
    let at = "schema.properties[a].x-kubernetes-validations[0].rule: Forbidden";
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[0].starts_with(&format!("{at}: estimated rule cost")));
    assert!(messages[1].starts_with(&format!("{at}: contributed to estimated rule cost total")));
    assert!(messages[2].starts_with("schema: Forbidden: x-kubernetes-validations estimated rule cost total"));
}

#[test]
fn checks_defaults_with_rules() {
    for (rule, expect) in [
        (json!({"rule": "self > 2"}), ""),
        (
            json!({"rule": "self > 5", "message": "too small"}),
            "schema.properties[a].default: Invalid value: 3: too small",
        ),
        (json!({"rule": "self == oldSelf"}), ""),
        (
            json!({"rule": "oldSelf.hasValue()", "optionalOldSelf": true, "message": "never new"}),
            "schema.properties[a].default: Invalid value: 3: never new",
        ),
    ] {
        let property = json!({"type": "integer", "default": 3, "x-kubernetes-validations": [rule]});
        assert_eq!(faults(&with(property)).join("; "), expect, "{rule}");
    }
}

#[test]
fn counts_maximum_occurrences() {
    let count = |schema: Value| {
        let mut props = JSONSchemaProps::default();
        json::from_value(&schema, Mut::of(&mut props), &mut Issues::ignore()).expect("a schema");
        cost::count_below(&props, Some(3))
    };
    for (schema, expect) in [
        (json!({"type": "object", "properties": {"a": {"type": "string"}}}), Some(3)),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), None),
        (json!({"type": "object", "maxProperties": 4, "additionalProperties": {"type": "string"}}), Some(12)),
        (json!({"type": "array", "maxItems": 5}), Some(15)),
        (json!({"type": "array"}), None),
    ] {
        assert_eq!(count(schema.clone()), expect, "{schema}");
    }
}
