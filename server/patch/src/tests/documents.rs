//! JSON patch and merge patch.

use machinery::json::{Issues, strict_error};
use serde_json::{Value, json};

use crate::{json_patch, merge_patch, merge_patch_unchecked};

fn check_json(document: Value, patch: Value, expect: &str) {
    let shown = match json_patch(&document, patch.to_string().as_bytes(), &mut Issues::ignore()) {
        Ok(patched) => patched.to_string(),
        Err(status) => format!("{} {}", status.code, status.message),
    };
    assert_eq!(shown, expect, "{patch}");
}

const INAPPLICABLE: &str = "422 the server rejected our request due to an error in our request";

#[test]
fn json_patches_apply_in_order_or_not_at_all() {
    let map = || json!({"data": {"k": "v"}});
    check_json(map(), json!([]), r#"{"data":{"k":"v"}}"#);
    check_json(map(), json!([{"op": "add", "path": "/data/x"}]), r#"{"data":{"k":"v","x":null}}"#);
    check_json(map(), json!([{"op": "replace", "path": "/data/a", "value": "x"}]), r#"{"data":{"a":"x","k":"v"}}"#);
    check_json(map(), json!([{"op": "add", "path": "data/k", "value": "b"}]), r#"{"data":{"k":"v"},"k":"b"}"#);
    check_json(
        map(),
        json!([{"op": "copy", "from": "/data/none", "path": "/data/x"}]),
        r#"{"data":{"k":"v","x":null}}"#,
    );
    check_json(map(), json!([{"op": "move", "from": "/data/k", "path": "/data/m"}]), r#"{"data":{"m":"v"}}"#);
    check_json(map(), json!([{"op": "test", "path": "/data/none", "value": null}]), r#"{"data":{"k":"v"}}"#);
    check_json(map(), json!([{"op": "replace", "path": "", "value": {"w": 1}}]), r#"{"w":1}"#);
    check_json(map(), json!([{"op": "replace", "path": "/data/a~1b~0", "value": 1}]), r#"{"data":{"a/b~":1,"k":"v"}}"#);
    for operation in [
        json!({"op": "nothing", "path": "/data/k"}),
        json!({"path": "/data/k", "value": "1"}),
        json!({"op": "remove"}),
        json!({"op": "remove", "path": "/data/none"}),
        json!({"op": "move", "path": "/data/x"}),
        json!({"op": "add", "path": "/metadata/labels/a", "value": "b"}),
        json!({"op": "add", "path": "/data/k/x", "value": "b"}),
        json!({"op": "replace", "path": "", "value": "x"}),
        json!({"op": "test", "path": "/data/k", "value": "other"}),
    ] {
        check_json(map(), json!([{"op": "add", "path": "/data/l", "value": 1}, operation]), INAPPLICABLE);
    }
}

#[test]
fn json_patches_count_lists_from_both_ends() {
    let list = || json!({"l": [1, 2, 3]});
    check_json(list(), json!([{"op": "add", "path": "/l/-", "value": 4}]), r#"{"l":[1,2,3,4]}"#);
    check_json(list(), json!([{"op": "add", "path": "/l/1", "value": 4}]), r#"{"l":[1,4,2,3]}"#);
    check_json(list(), json!([{"op": "add", "path": "/l/-1", "value": 4}]), r#"{"l":[1,2,3,4]}"#);
    check_json(list(), json!([{"op": "remove", "path": "/l/-1"}]), r#"{"l":[1,2]}"#);
    check_json(list(), json!([{"op": "replace", "path": "/l/3", "value": 4}]), INAPPLICABLE);
}

#[test]
fn malformed_json_patches_are_bad_requests() {
    let check = |patch: &str, expect: &str| {
        let status = json_patch(&json!({}), patch.as_bytes(), &mut Issues::ignore()).unwrap_err();
        assert_eq!(format!("{} {}", status.code, status.message), expect);
    };
    let prefix = "400 error decoding patch: json: cannot unmarshal";
    check("{}", &format!("{prefix} object into Go value of type []handlers.jsonPatchOp"));
    check("[1]", &format!("{prefix} number into Go value of type handlers.jsonPatchOp"));
    check("[{", "400 error decoding patch: unexpected end of JSON input");
    let many = serde_json::to_string(&vec![json!({"op": "test", "path": "/x"}); 10_001]).unwrap();
    check(&many, "413 Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001");
    let mut issues = Issues::collect();
    json_patch(&json!({}), br#"[{"op":"add","path":"/x","extra":1}]"#, &mut issues).unwrap();
    assert_eq!(strict_error(&issues).unwrap(), r#"strict decoding error: json patch unknown field "[0].extra""#);
}

#[test]
fn merge_patches_remove_by_null_and_replace_lists() {
    let check = |document: Value, patch: &str, expect: &str| {
        let shown = match merge_patch(&document, patch.as_bytes(), &mut Issues::ignore()) {
            Ok(patched) => patched.to_string(),
            Err(status) => format!("{} {}", status.code, status.message),
        };
        assert_eq!(shown, expect, "{patch}");
    };
    let map = || json!({"m": {"k": 1}, "l": [1, 2]});
    check(map(), r#"{"m":{"j":2}}"#, r#"{"l":[1,2],"m":{"j":2,"k":1}}"#);
    check(map(), r#"{"m":{"k":null},"l":[3]}"#, r#"{"l":[3],"m":{}}"#);
    check(map(), r#"{"n":{"a":null,"b":{"c":null}}}"#, r#"{"l":[1,2],"m":{"k":1},"n":{"b":{}}}"#);
    check(map(), r#"{"m":"x"}"#, r#"{"l":[1,2],"m":"x"}"#);
    check(map(), "null", "400 Invalid JSON Patch");
    let prefix = "400 error decoding patch: json: cannot unmarshal";
    check(map(), "[]", &format!("{prefix} array into Go value of type map[string]interface {{}}"));
    let unchecked = |patch: &str| match merge_patch_unchecked(&map(), patch.as_bytes()) {
        Ok(patched) => patched.to_string(),
        Err(status) => format!("{} {}", status.code, status.message),
    };
    assert_eq!(unchecked(r#"{"l":null}"#), r#"{"m":{"k":1}}"#);
    assert_eq!(unchecked(r#"[1,null,{"a":null}]"#), "[1,null,{}]");
    for patch in ["3", "null", "", "{", "1 2"] {
        assert_eq!(unchecked(patch), "400 Invalid JSON Patch", "{patch}");
    }
}
