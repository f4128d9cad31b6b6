//! Strategic merge patch.

use machinery::json::Issues;
use serde_json::{Value, json};

use super::fixture::deployment;
use crate::{shape_error, strategic_merge, undecodable};

fn patch(document: &Value, patch: Value) -> String {
    match strategic_merge(deployment(), document, patch.to_string().as_bytes(), &mut Issues::ignore()) {
        Ok(patched) => patched.to_string(),
        Err(status) => format!("{} {} {}", status.code, status.reason, status.message),
    }
}

/// Patches the containers of a deployment with containers `a` and `b`.
fn containers(patched: Value) -> String {
    let document = json!({"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}});
    let body = json!({"spec": patched}).to_string();
    match strategic_merge(deployment(), &document, body.as_bytes(), &mut Issues::ignore()) {
        Ok(patched) => patched["spec"]["containers"].to_string(),
        Err(status) => format!("{} {} {}", status.code, status.reason, status.message),
    }
}

#[test]
fn lists_merge_by_key() {
    let list = |patched: Value| containers(json!({"containers": patched}));
    assert_eq!(
        list(json!([{"name": "b", "image": "b:2"}])),
        r#"[{"name":"a","image":"a:1"},{"name":"b","image":"b:2"}]"#
    );
    assert_eq!(list(json!([{"name": "c"}])), r#"[{"name":"c"},{"name":"a","image":"a:1"},{"name":"b","image":"b:1"}]"#);
    assert_eq!(list(json!([{"$patch": "delete", "name": "b"}])), r#"[{"name":"a","image":"a:1"}]"#);
    assert_eq!(list(json!([{"name": "z"}, {"$patch": "replace"}])), r#"[{"name":"z"}]"#);
}

#[test]
fn wrong_list_items_are_internal_errors() {
    let list = |patched: Value| containers(json!({"containers": patched}));
    assert_eq!(list(json!([{"image": "x"}])), "500  map: map[image:x] does not contain declared merge key: name");
    assert_eq!(
        list(json!([{"$patch": "nothing", "name": "a"}])),
        "500  unknown patch type: nothing in map: map[$patch:nothing name:a]"
    );
    assert_eq!(
        list(json!([{"$patch": "merge", "name": "a"}])),
        "500  merging lists cannot yet be specified in the patch"
    );
    assert_eq!(
        list(json!([null])),
        "500  list element types are not identical: [[map[image:a:1 name:a] map[image:b:1 name:b]] [<nil>]]"
    );
}

#[test]
fn set_element_order_sorts_items() {
    assert_eq!(
        containers(
            json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "containers": [{"name": "a", "image": "a:2"}]})
        ),
        r#"[{"name":"b","image":"b:1"},{"name":"a","image":"a:2"}]"#
    );
    assert_eq!(
        containers(
            json!({"$setElementOrder/containers": [{"name": "a"}, {"name": "n"}, {"name": "b"}], "containers": [{"name": "n"}]})
        ),
        r#"[{"name":"a","image":"a:1"},{"name":"n"},{"name":"b","image":"b:1"}]"#
    );
    assert_eq!(
        containers(json!({"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "m"}]})),
        "500  The order in patch list:\n[map[name:m]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n"
    );
    assert_eq!(
        containers(json!({"$setElementOrder/containers": [{"image": "x"}]})),
        "500  map: map[image:x] does not contain declared merge key: name"
    );
    assert_eq!(
        containers(json!({"$setElementOrder/containers": "a"})),
        "500  expected a []interface {}, but received a string"
    );
    assert_eq!(
        containers(json!({"$setElementOrder/nothing": [{"name": "a"}]})),
        "500  unable to find api field in struct DeploymentSpec for the json field \"nothing\""
    );
}

#[test]
fn directives_of_maps() {
    let document = json!({"metadata": {"labels": {"a": "1"}, "finalizers": ["x", "y"]}});
    let labels = |patched: Value| patch(&document, json!({"metadata": {"labels": patched}}));
    assert_eq!(
        labels(json!({"$patch": "replace", "c": "3"})),
        r#"{"metadata":{"labels":{"c":"3"},"finalizers":["x","y"]}}"#
    );
    assert_eq!(labels(json!({"$patch": "delete"})), r#"{"metadata":{"labels":{},"finalizers":["x","y"]}}"#);
    assert_eq!(labels(json!({"$patch": "merge"})), "500  unknown patch type: merge in map: map[$patch:merge]");
    assert_eq!(labels(json!({"a": null, "n": null})), r#"{"metadata":{"labels":{},"finalizers":["x","y"]}}"#);
    assert_eq!(patch(&document, json!(null)), document.to_string());
    assert_eq!(
        patch(&document, json!([])),
        "400 BadRequest json: cannot unmarshal array into Go value of type map[string]interface {}"
    );
}

#[test]
fn scalar_lists_merge_as_sets() {
    let document = json!({"metadata": {"finalizers": ["x", "y"]}});
    let check = |patched: Value, expect: &str| assert_eq!(patch(&document, json!({"metadata": patched})), expect);
    check(json!({"finalizers": ["b", "x"]}), r#"{"metadata":{"finalizers":["b","x","y"]}}"#);
    check(json!({"$deleteFromPrimitiveList/finalizers": ["x", "none"]}), r#"{"metadata":{"finalizers":["y"]}}"#);
    check(json!({"$deleteFromPrimitiveList/finalizers": "x"}), r#"{"metadata":{"finalizers":["x","y"]}}"#);
    check(json!({"$deleteFromPrimitiveList/labels": ["x"]}), r#"{"metadata":{"finalizers":["x","y"]}}"#);
}

#[test]
fn retain_keys_removes_the_others() {
    let document = json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}});
    let strategy = |patched: Value| patch(&document, json!({"spec": {"strategy": patched}}));
    assert_eq!(
        strategy(json!({"$retainKeys": ["type"], "type": "Recreate"})),
        r#"{"spec":{"strategy":{"type":"Recreate"}}}"#
    );
    assert_eq!(strategy(json!({"$retainKeys": ["none"]})), r#"{"spec":{"strategy":{}}}"#);
    let bad = "400 BadRequest invalid patch format of retainKeys";
    assert_eq!(strategy(json!({"$retainKeys": ["rollingUpdate"], "type": "x"})), bad);
    assert_eq!(strategy(json!({"$retainKeys": "type"})), bad);
}

/// Patches a deployment with a container `a`; returns its shape error, and the part of the patch in the
/// message.
fn refused(patched: &Value) -> (Option<String>, String) {
    let document = json!({"spec": {"containers": [{"name": "a"}]}});
    let bytes = patched.to_string();
    let merged = strategic_merge(deployment(), &document, bytes.as_bytes(), &mut Issues::ignore()).unwrap();
    let status = undecodable(deployment(), &document, bytes.as_bytes(), "why");
    let shown = status.message.strip_prefix(" \"\" is invalid: patch: Invalid value: \"").unwrap();
    (shape_error(deployment(), "v1", &merged), shown.strip_suffix("\": why").unwrap().into())
}

#[test]
fn results_with_a_wrong_structure_are_refused() {
    let check = |patched: Value, expect: &str| assert_eq!(refused(&patched).0.as_deref(), Some(expect), "{patched}");
    check(json!({"spec": {"containers": {"name": "a"}}}), "cannot restore slice from map");
    check(json!({"spec": []}), "cannot restore struct from: slice");
    check(json!({"spec": "x"}), "cannot restore struct from: string");
    check(json!({"spec": {"replicas": "x"}}), "unrecognized type: int32");
    check(json!({"spec": {"replicas": 1.5}}), "cannot convert float64 to int32");
    check(json!({"kind": 1}), "cannot convert int64 to string");
}

#[test]
fn applied_directives_are_removed_from_the_shown_patch() {
    let check = |patched: Value, expect: &str| assert_eq!(refused(&patched).1, expect, "{patched}");
    check(json!({"$patch": "replace", "spec": []}), "map[spec:[]]");
    check(json!({"spec": {"$retainKeys": [], "x": null}}), "map[spec:map[x:<nil>]]");
    check(json!({"spec": {"$setElementOrder/containers": []}}), "map[spec:map[]]");
    check(json!({"new": {"a": null, "b": {"$patch": "delete"}, "c": 1}}), "map[new:map[c:1]]");
    check(
        json!({"spec": {"containers": [{"name": "a", "$retainKeys": ["name"]}]}}),
        "map[spec:map[containers:[map[name:a]]]]",
    );
}
