//! Results and errors of JSON patches.

use std::fmt::Write as _;

use serde_json::json;

use super::*;

fn patch(document: &Value, operations: &Value) -> Result<Value, u16> {
    json_patch(document, operations.to_string().as_bytes(), &mut Issues::ignore()).map_err(|status| status.code)
}

#[test]
fn error_messages_name_the_operation() {
    let document = json!({"data": {"a": "b"}, "list": [1]});
    let why = |operation: Value| {
        let Value::Object(operation) = operation else { return None };
        json_patch_of(&document, &[operation]).err().map(|why| why.to_string())
    };
    for (operation, expect) in [
        (
            json!({"op": "remove", "path": "/none/a"}),
            r#"remove operation does not apply: doc is missing path: "/none/a": missing value"#,
        ),
        (
            json!({"op": "remove", "path": "/data/c"}),
            "error in remove for path: '/data/c': Unable to remove nonexistent key: c: missing value",
        ),
        (
            json!({"op": "add", "path": "/list/x", "value": 1}),
            r#"error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax"#,
        ),
        (
            json!({"op": "add", "path": "/list/5", "value": 1}),
            "error in add for path: '/list/5': Unable to access invalid index: 5: invalid index referenced",
        ),
        (
            json!({"op": "replace", "path": "/list/5", "value": 1}),
            "replace operation does not apply: doc is missing key: /list/5: missing value",
        ),
        (
            json!({"op": "move", "from": "/data/c", "path": "/x"}),
            "error in move for path: 'c': Unable to remove nonexistent key: c: missing value",
        ),
        (
            json!({"op": "copy", "from": "/none/a", "path": "/x"}),
            "copy operation does not apply: doc is missing from path: /none/a: missing value",
        ),
    ] {
        assert_eq!(why(operation.clone()).as_deref(), Some(expect), "{operation}");
    }
    // A failed test leaves the document unchanged.
    assert_eq!(why(json!({"op": "test", "path": "/data/a", "value": "c"})), None);
}

#[test]
fn copies_into_itself_end_at_the_depth_limit() {
    // Each copy goes to the deepest container, so that the depth doubles.
    let copy = |exponent: usize| json!({"op": "copy", "from": "/a", "path": "/a".repeat((1usize << exponent) + 1)});
    let copies = |count| json!((0..count).map(copy).collect::<Vec<Value>>());
    assert!(patch(&json!({"a": {}}), &copies(7)).is_ok());
    assert_eq!(patch(&json!({"a": {}}), &copies(14)), Err(422));
}

#[test]
fn moves_do_not_exceed_the_depth_limit() {
    let mut operations = Vec::new();
    for _ in 0..MAX_DEPTH {
        operations.push(json!({"op": "add", "path": "/b", "value": {}}));
        operations.push(json!({"op": "move", "from": "/a", "path": "/b/a"}));
        operations.push(json!({"op": "move", "from": "/b", "path": "/a"}));
    }
    assert_eq!(patch(&json!({"a": {}}), &json!(operations)), Err(422));
}

#[test]
fn inserts_into_a_long_array_are_refused_once_they_cost_too_much() {
    let document = json!({"a": vec![0; 20_000]});
    let insert = json!({"op": "add", "path": "/a/0", "value": 1});
    assert_eq!(patch(&document, &json!(vec![insert.clone(); 10_000])), Err(413));
    assert!(patch(&document, &json!(vec![insert; 1_000])).is_ok());
}

#[test]
fn long_paths_that_are_not_used_cost_nothing() {
    let mut path = String::new();
    for _ in 0..500_000 {
        write!(path, "/a").unwrap();
    }
    let operations = json!([{"op": "add", "path": "/x", "value": 1, "from": path}]);
    assert_eq!(patch(&json!({}), &operations), Ok(json!({"x": 1})));
    assert!(names_of_operations(operations.as_array().unwrap()).is_some());
}

#[test]
fn accessed_objects_are_sorted() {
    let check = |operations: Value, expect: &str| {
        let document = json!({"z": {"n": {"b": 1, "a": 1}, "m": 1}, "l": [{"d": 1, "c": 1}, {"f": 1, "e": 1}], "a": 1});
        let patched = patch(&document, &operations).expect("the patch applies");
        assert_eq!(patched.to_string(), expect, "{operations}");
    };
    let z = r#""z":{"n":{"b":1,"a":1},"m":1}"#;
    let l = r#""l":[{"d":1,"c":1},{"f":1,"e":1}]"#;
    check(json!([{"op": "test", "path": "/a", "value": 1}]), &format!(r#"{{"a":1,{l},{z}}}"#));
    check(
        json!([{"op": "test", "path": "/z/m", "value": 1}]),
        &format!(r#"{{"a":1,{l},"z":{{"m":1,"n":{{"b":1,"a":1}}}}}}"#),
    );
    // The replacement of an accessed value keeps its order.
    check(
        json!([{"op": "test", "path": "/z/n/a", "value": 1}, {"op": "replace", "path": "/z", "value": {"y": 1, "x": 1}}]),
        &format!(r#"{{"a":1,{l},"z":{{"y":1,"x":1}}}}"#),
    );
    check(
        json!([{"op": "test", "path": "/l/-1", "value": {"e": 1, "f": 1}}]),
        &format!(r#"{{"a":1,"l":[{{"d":1,"c":1}},{{"e":1,"f":1}}],{z}}}"#),
    );
    check(
        json!([{"op": "test", "path": "/z", "value": {"m": 1, "n": {"a": 1, "b": 1}}}]),
        &format!(r#"{{"a":1,{l},"z":{{"m":1,"n":{{"a":1,"b":1}}}}}}"#),
    );
    // A moved value keeps its record, and records of list items move with them.
    check(
        json!([{"op": "test", "path": "/l/1/f", "value": 1}, {"op": "remove", "path": "/l/0"}]),
        &format!(r#"{{"a":1,"l":[{{"e":1,"f":1}}],{z}}}"#),
    );
    check(
        json!([{"op": "test", "path": "/l/0/c", "value": 1}, {"op": "add", "path": "/l/0", "value": {"h": 1, "g": 1}}]),
        &format!(r#"{{"a":1,"l":[{{"h":1,"g":1}},{{"c":1,"d":1}},{{"f":1,"e":1}}],{z}}}"#),
    );
    check(
        json!([{"op": "test", "path": "/z/n/a", "value": 1}, {"op": "move", "from": "/z/n", "path": "/y"}]),
        &format!(r#"{{"a":1,{l},"y":{{"a":1,"b":1}},"z":{{"m":1}}}}"#),
    );
    check(
        json!([{"op": "test", "path": "/l/0/c", "value": 1}, {"op": "move", "from": "/l/0", "path": "/l/-"}]),
        &format!(r#"{{"a":1,"l":[{{"f":1,"e":1}},{{"c":1,"d":1}}],{z}}}"#),
    );
    check(
        json!([{"op": "move", "from": "/l/0", "path": "/l/0/d"}]),
        &format!(r#"{{"a":1,"l":[{{"d":{{"d":1,"c":1}},"e":1,"f":1}}],{z}}}"#),
    );
    check(
        json!([{"op": "copy", "from": "/z/n", "path": "/z/n/c"}]),
        &format!(r#"{{"a":1,{l},"z":{{"m":1,"n":{{"a":1,"b":1,"c":{{"a":1,"b":1}}}}}}}}"#),
    );
}
