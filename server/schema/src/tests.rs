use machinery::budget::{Exceeded, Meter};
use machinery::json::Issues;
use machinery::reflect::Mut;
use serde_json::{Value, json};

use crate::{
    Schema, apply_defaults, check, check_lists, check_update, drop_nulls, drop_untyped_nulls, is_certainly_valid, prune,
};

fn compiled(schema: Value) -> Schema {
    let mut props = apimachinery::apiextensions::v1::JSONSchemaProps::default();
    machinery::json::from_value(&schema, Mut::of(&mut props), &mut Issues::ignore()).expect("a schema");
    Schema::compile(&props)
}

fn texts(errors: Vec<machinery::field_error::FieldError>) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn errors_match_upstream_messages() {
    let check = |schema: Value, value: Value, expect: &[&str]| {
        assert_eq!(texts(check(&compiled(schema), &value, "")), expect, "{value}");
    };
    let of = |schema: Value| json!({"type": "object", "properties": {"x": schema}});
    check(of(json!({"type": "integer"})), json!({"x": 1}), &[]);
    check(of(json!({"type": "integer"})), json!({"x": 1.0}), &[]);
    check(of(json!({"type": "integer"})), json!({"x": 9_007_199_254_740_991.0}), &[]);
    let wrong = r#"x: Invalid value: "number": x in body must be of type integer: "number""#;
    let out_of_range = r#"<nil>: Invalid value: "": Checked value must be of type integer (default format) in x"#;
    check(of(json!({"type": "integer"})), json!({"x": 9_007_199_254_740_992.0}), &[wrong]);
    check(of(json!({"type": "integer"})), json!({"x": 1e20}), &[wrong, out_of_range]);
    check(of(json!({"type": "integer"})), json!({"x": 2.000_000_001}), &[out_of_range]);
    check(of(json!({"type": "integer"})), json!({"x": 2.000_000_1}), &[wrong, out_of_range]);
    check(
        of(json!({"type": "integer"})),
        json!({"x": "a"}),
        &[r#"x: Invalid value: "string": x in body must be of type integer: "string""#],
    );
    check(
        of(json!({"type": "string"})),
        json!({"x": null}),
        &[r#"x: Invalid value: "null": x in body must be of type string: "null""#],
    );
    check(
        of(json!({"x-kubernetes-int-or-string": true})),
        json!({"x": true}),
        &[r#"x: Invalid value: "boolean": x in body must be of type integer,string: "boolean""#],
    );
    check(
        of(json!({"type": "integer", "minimum": 3, "exclusiveMinimum": true})),
        json!({"x": 3}),
        &["x: Invalid value: 3: x in body should be greater than 3"],
    );
    check(
        of(json!({"type": "string", "enum": ["a", "b"]})),
        json!({"x": "c"}),
        &[r#"x: Unsupported value: "c": supported values: "a", "b""#],
    );
    let numbers = || of(json!({"type": "number", "enum": [1, 2.5]}));
    check(numbers(), json!({"x": 1.5}), &[]);
    check(numbers(), json!({"x": 2.5}), &[]);
    check(numbers(), json!({"x": 2}), &[r#"x: Unsupported value: 2: supported values: "1", "2.5""#]);
    check(
        of(json!({"type": "number", "enum": [1e19]})),
        json!({"x": 1}),
        &[r#"x: Unsupported value: 1: supported values: "10000000000000000000""#],
    );
    let either = || of(json!({"x-kubernetes-int-or-string": true, "enum": ["1", 7]}));
    check(either(), json!({"x": 49}), &[]);
    check(either(), json!({"x": 50}), &[r#"x: Unsupported value: 50: supported values: "1", "7""#]);
    let hosts = || of(json!({"type": "string", "format": "hostname"}));
    for host in ["a", "a-", "a-bc", "1a", "1", "a.b-c.de", "A.BC", "é+€", "あ.あああ"] {
        check(hosts(), json!({"x": host}), &[]);
    }
    for host in ["2020-01-01", "ab-c", "a.1", "a.b", "-a", "a..bc", "a²", "a·b", "a٣", "a.b€"] {
        let words = format!("x: Invalid value: {host:?}: x in body must be of type hostname: {host:?}");
        check(hosts(), json!({"x": host}), &[&words]);
    }
    let halves = of(json!({"type": "number", "multipleOf": 0.5}));
    check(halves, json!({"x": 1e16}), &["x: Invalid value: 1e+16: x in body should be a multiple of 0.5"]);
    let half = || of(json!({"type": "integer", "multipleOf": 0.5}));
    let no_integer = r#"<nil>: Invalid value: "": MultipleOf value must be of type integer (default format) in x"#;
    check(half(), json!({"x": 2}), &[no_integer]);
    // A bound that the type cannot represent is compared, and shown, as a float.
    let most = || of(json!({"type": "integer", "maximum": 1.5}));
    let no_integer =
        r#"<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in x"#;
    check(most(), json!({"x": 1}), &[no_integer]);
    let large = "x: Invalid value: 9.223372036854776e+18: x in body should be less than or equal to 1.5";
    check(most(), json!({"x": i64::MAX}), &[no_integer, large]);
    // For an integer value, an out-of-range bound becomes the smallest `i64`.
    let beyond = || of(json!({"type": "number", "minimum": 3.5e38}));
    check(beyond(), json!({"x": 0}), &[]);
    check(
        beyond(),
        json!({"x": 0.5}),
        &["x: Invalid value: 0.5: x in body should be greater than or equal to 3.5e+38"],
    );
    // A number format does not apply to integers.
    let formatted = || of(json!({"type": "integer", "format": "float"}));
    check(
        formatted(),
        json!({"x": {}}),
        &[r#"x: Invalid value: "object": x in body must be of type integer: "object""#],
    );
    check(of(json!({"type": "string", "format": "uri"})), json!({"x": "http://a.b/c d"}), &[]);
    check(
        of(json!({"type": "string", "pattern": "^a+$"})),
        json!({"x": "b"}),
        &["x: Invalid value: \"b\": x in body should match '^a+$'"],
    );
    check(of(json!({"type": "object", "required": ["y"]})), json!({"x": {}}), &["x.y: Required value"]);
    check(
        of(json!({"type": "array", "maxItems": 1, "items": {"type": "boolean"}})),
        json!({"x": [true, false]}),
        &["x: Too many: 2: must have at most 1 item"],
    );
    check(
        of(json!({"type": "integer", "oneOf": [{"minimum": 5}, {"maximum": 1}]})),
        json!({"x": 3}),
        &[
            r#"<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid"#,
            "x: Invalid value: 3: x in body should be greater than or equal to 5",
        ],
    );
}

#[test]
fn certainly_valid_objects_pass_validation() {
    let check = |schema: Value, content: Value, expect: bool| {
        let (schema, mut object) = (compiled(schema), content.clone());
        let is_certain = is_certainly_valid(&schema, content.as_object().expect("an object"));
        assert_eq!(is_certain, expect, "{content}");
        object["metadata"] = json!({"name": "a"});
        object["apiVersion"] = "v1".into();
        object["kind"] = "A".into();
        assert!(!is_certain || check(&schema, &object, "").is_empty(), "{content}");
    };
    let of = |properties: Value| json!({"type": "object", "properties": properties});
    let size = || of(json!({"size": {"type": "integer", "minimum": 1}}));
    check(size(), json!({"size": 1}), true);
    check(size(), json!({"size": 0}), false);
    check(size(), json!({"size": "a"}), false);
    check(size(), json!({}), true);
    let meta = || json!({"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}});
    check(of(meta()), json!({"spec": {}}), true);
    // These objects are valid, but the quick check cannot prove it.
    check(of(json!({"kind": {"type": "string", "enum": ["A"]}})), json!({}), false);
    check(of(json!({"metadata": {"type": "object", "properties": {"name": {"type": "string"}}}})), json!({}), false);
    let required =
        || json!({"type": "object", "required": ["metadata", "spec"], "properties": {"spec": {"type": "object"}}});
    check(required(), json!({"spec": {}}), true);
    check(required(), json!({}), false);
    check(required(), json!({"spec": 1}), false);
    check(json!({"type": "object", "required": ["spec"], "minProperties": 1}), json!({"spec": 1}), false);
    check(json!({"type": "object", "additionalProperties": {"type": "integer"}}), json!({"spec": 1}), false);
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    check(of(json!({"list": set})), json!({"list": ["a", "a"]}), false);
}

#[test]
fn unchanged_values_may_stay_invalid() {
    let schema = compiled(json!({"type": "object", "properties": {
        "x": {"type": "integer", "minimum": 5},
        "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                 "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer", "minimum": 5}}}},
    }}));
    let check = |old: Value, new: Value, faults: usize| {
        assert_eq!(check_update(&schema, &new, &old, "").len(), faults, "{old} -> {new}");
    };
    check(json!({"x": 1}), json!({"x": 1}), 0);
    check(json!({"x": 1}), json!({"x": 2}), 1);
    check(json!({}), json!({"x": 2}), 1);
    check(json!({"list": [{"k": "a", "v": 1}]}), json!({"list": [{"k": "b"}, {"k": "a", "v": 1}]}), 0);
    check(json!({"list": [{"k": "a", "v": 1}]}), json!({"list": [{"k": "b", "v": 1}]}), 1);
}

#[test]
fn prunes_unknown_fields() {
    let schema = compiled(json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                 "properties": {"known": {"type": "object", "properties": {"a": {"type": "integer"}}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    }}));
    let mut value = json!({
        "metadata": {"name": "n"}, "zzz": 1,
        "spec": {"a": 1, "b": 2},
        "free": {"any": {"thing": 1}, "known": {"a": 1, "b": 2}},
        "map": {"x": {"a": 1, "b": 2}},
    });
    let mut unknown = Vec::new();
    prune(&mut value, &schema, true, Some(&mut unknown));
    assert_eq!(unknown, ["free.known.b", "map.x.b", "spec.b", "zzz"]);
    let expect = json!({
        "metadata": {"name": "n"},
        "spec": {"a": 1},
        "free": {"any": {"thing": 1}, "known": {"a": 1}},
        "map": {"x": {"a": 1}},
    });
    assert_eq!(value, expect);
}

#[test]
fn reports_keys_of_root_map_with_leading_dot() {
    let map = compiled(json!({"type": "object", "additionalProperties": {"type": "integer", "maximum": 2}}));
    let errors = check(&map, &json!({"y": 3}), "default");
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["default.y: Invalid value: 3: .y in body should be less than or equal to 2"]);
    let errors = check(&map, &json!({"": 3}), "default");
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["default: Invalid value: 3: . in body should be less than or equal to 2"]);
}

#[test]
fn applies_defaults_to_missing_fields() {
    let schema = compiled(json!({"type": "object", "properties": {"spec": {
        "type": "object", "default": {},
        "properties": {
            "a": {"type": "integer", "default": 1},
            "b": {"type": "integer", "default": 2, "nullable": true},
            "c": {"type": "string"},
        },
    }}}));
    let check = |mut value: Value, expect: Value| {
        drop_nulls(&mut value, &schema);
        apply_defaults(&mut value, &schema, &mut Meter::of_document(0)).expect("few defaults");
        assert_eq!(value, expect);
    };
    check(json!({}), json!({"spec": {"a": 1, "b": 2}}));
    check(json!({"spec": {"a": null, "b": null, "c": null}}), json!({"spec": {"a": 1, "b": null}}));
    check(json!({"spec": {"a": 7}}), json!({"spec": {"a": 7, "b": 2}}));
    let open = json!({"type": "object", "properties": {"t": {"type": "string"}, "u": {}}});
    let mut applied = json!({"t": null, "u": null});
    drop_untyped_nulls(&mut applied, &compiled(open));
    assert_eq!(applied, json!({"t": null}), "validation refuses the other");
}

#[test]
fn defaults_that_multiply_small_items_are_bounded() {
    let schema = compiled(json!({"type": "object", "properties": {"items": {"type": "array", "items": {
        "type": "object", "properties": {"text": {"type": "string", "default": "x".repeat(100_000)}},
    }}}}));
    let defaulted = |items: usize, meter: &mut Meter| {
        let mut value = json!({"items": vec![json!({}); items]});
        apply_defaults(&mut value, &schema, meter)
    };
    assert_eq!(defaulted(100, &mut Meter::of_document(0)), Ok(()));
    let exceeded = defaulted(1000, &mut Meter::of_document(3000));
    assert!(matches!(exceeded, Err(Exceeded::Request { .. })), "100 MB of defaults: {exceeded:?}");
    assert_eq!(defaulted(1000, &mut Meter::unlimited()), Ok(()), "a stored object stays readable");
}

#[test]
fn rejects_duplicate_set_items_and_map_keys() {
    let schema = compiled(json!({"type": "object", "properties": {
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string"}}}},
    }}));
    let mut errors = Vec::new();
    let value = json!({"set": ["a", "b", "a", "a"], "map": [{"k": "x"}, {"k": "x"}]});
    check_lists(&machinery::field_path::Path::NONE, &schema, &value, &mut errors);
    assert_eq!(texts(errors), [r#"map[1]: Duplicate value: {"k":"x"}"#, r#"set[2]: Duplicate value: "a""#]);
}

/// Runs a closure on half of the stack size of a worker thread.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).expect("a thread").join().expect("no panic");
}

#[test]
fn schemas_and_objects_at_depth_limit_need_little_stack() {
    let levels = machinery::limits::MAX_DEPTH / 2 - 1;
    on_a_small_stack(move || {
        let (open, close) = (r#"{"type":"object","properties":{"a":"#, "}}");
        let text = format!("{}{{\"type\":\"string\"}}{}", open.repeat(levels), close.repeat(levels));
        let mut props = apimachinery::apiextensions::v1::JSONSchemaProps::default();
        machinery::json::decode(text.as_bytes(), Mut::of(&mut props), &mut Issues::collect()).expect("a schema");
        let copy = props.clone();
        let mut stored = Vec::new();
        machinery::protobuf::encode(machinery::reflect::Ref::of(&copy), &mut stored);
        let mut read = apimachinery::apiextensions::v1::JSONSchemaProps::default();
        machinery::protobuf::decode(&stored, Mut::of(&mut read)).expect("a stored schema");
        let schema = Schema::compile(&read);
        let text = format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        let mut object = machinery::json::parse(text.as_bytes(), &mut Issues::collect()).expect("an object");
        prune(&mut object, &schema, true, None);
        drop_nulls(&mut object, &schema);
        apply_defaults(&mut object, &schema, &mut Meter::of_document(0)).expect("few defaults");
        check_lists(&machinery::field_path::Path::NONE, &schema, &object, &mut Vec::new());
        assert_eq!(check_update(&schema, &object, &json!({}), "").len(), 1);
        assert_eq!(check(&schema, &object, "").len(), 1);
    });
}

#[test]
fn errors_and_unknown_fields_are_bounded() {
    let schema = json!({"type": "object", "properties": {"x": {"type": "array", "items": {"type": "string"}}}});
    let schema = compiled(schema);
    let value = json!({"x": (0..200_000).collect::<Vec<i32>>()});
    assert_eq!(check(&schema, &value, "").len(), 1000);
    let key = "k".repeat(1 << 20);
    let schema = compiled(json!({"type": "object", "additionalProperties": {"type": "object"}}));
    let members: serde_json::Map<String, Value> = (0..10_000).map(|n| (n.to_string(), 1.into())).collect();
    let mut unknown = Vec::new();
    prune(&mut json!({ key: members }), &schema, true, Some(&mut unknown));
    assert_eq!(unknown.len(), 1);
}

#[test]
fn items_of_a_long_list_are_paired_quickly() {
    let schema = json!({"type": "object", "properties": {"x": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {"type": "integer"}, "v": {"type": "string"}}},
    }}});
    let schema = compiled(schema);
    let list =
        |keys: &mut dyn Iterator<Item = i32>| json!({"x": keys.map(|k| json!({"k": k, "v": 1})).collect::<Vec<_>>()});
    let (new, old) = (list(&mut (0..50_000)), list(&mut (0..50_000).rev()));
    assert_eq!(check_update(&schema, &new, &old, ""), []);
    assert_eq!(check(&schema, &new, "").len(), 1000);
}
