//! Server-side apply.

use machinery::status::Status;
use serde_json::json;

use super::fixture::Server;
use crate::managed::Applied;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

#[test]
fn appliers_share_equal_values_and_conflict_over_others() {
    let mut server = Server::of_config_map();
    server.apply("one", json!({"data": {"k": "1", "l": "1", "own": "1"}}));
    let refused = server.try_apply("two", json!({"data": {"k": "2", "l": "2"}}), false).unwrap_err();
    assert_eq!(
        refused.to_value().to_string(),
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.k\n- .data.l","reason":"Conflict","details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"one\"","field":".data.k"},{"reason":"FieldManagerConflict","message":"conflict with \"one\"","field":".data.l"}]},"code":409}"#
    );
    // An apply without changes gets an entry without a time.
    assert!(!server.try_apply("two", json!({"data": {"k": "1"}}), false).unwrap().changed);
    assert_eq!(
        server.owners(),
        "two Apply -: {\"f:data\":{\"f:k\":{}}}\none Apply 01: {\"f:data\":{\"f:k\":{},\"f:l\":{},\"f:own\":{}}}"
    );
    server.try_apply("two", json!({"data": {"k": "3", "l": "3"}}), true).unwrap();
    assert_eq!(
        server.owners(),
        "one Apply 01: {\"f:data\":{\"f:own\":{}}}\ntwo Apply 04: {\"f:data\":{\"f:k\":{},\"f:l\":{}}}"
    );
}

#[test]
fn fields_no_longer_applied_are_removed_unless_owned_by_others() {
    let mut server = Server::of_config_map();
    server.apply("one", json!({"data": {"a": "1", "b": "1", "c": "1"}}));
    server.apply("two", json!({"data": {"b": "1"}}));
    server.write("up", json!({"data": {"a": "1", "b": "1", "c": "1", "u": "1"}}));
    let live = server.apply("one", json!({"data": {"a": "1"}}));
    assert_eq!(live["data"], json!({"a": "1", "b": "1", "u": "1"}));
    server.apply("one", json!({}));
    assert_eq!(server.live.as_ref().unwrap()["data"], json!({"b": "1", "u": "1"}));
    assert_eq!(server.owners(), "two Apply -: {\"f:data\":{\"f:b\":{}}}\nup Update 03: {\"f:data\":{\"f:u\":{}}}");
}

#[test]
fn list_items_are_owned_one_by_one() {
    let mut server = Server::of_deployment();
    server.apply("one", json!({"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b"}]}}));
    server.apply("two", json!({"spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80}]}]}}));
    let live = server.apply("one", json!({"spec": {"containers": [{"name": "a"}]}}));
    assert_eq!(live["spec"]["containers"], json!([{"name": "a"}, {"name": "c", "ports": [{"containerPort": 80}]}]));
    let refused = server.try_apply(
        "three",
        json!({"spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}}),
        false,
    );
    assert!(refused.is_ok());
    let live = server.live.as_ref().unwrap();
    assert_eq!(live["spec"]["containers"][1]["ports"], json!([{"containerPort": 80, "protocol": "TCP"}]));
}

#[test]
fn updates_conflict_with_their_version() {
    let mut server = Server::of_config_map();
    server.write("creator", json!({"data": {"k": "1", "l": "1"}}));
    server.write("patcher", json!({"data": {"k": "1", "l": "2"}}));
    let message = |result: Result<Applied, Status>| result.unwrap_err().message;
    assert_eq!(
        message(server.try_apply("m", json!({"data": {"k": "x", "l": "x"}}), false)),
        "Apply failed with 2 conflicts: conflicts with \"creator\" using v1:\n- .data.k\nconflicts with \"patcher\" using v1:\n- .data.l"
    );
    assert_eq!(
        message(server.try_apply("m", json!({"data": {"k": "x"}}), false)),
        "Apply failed with 1 conflict: conflict with \"creator\" using v1: .data.k"
    );
    assert_eq!(
        message(server.try_apply("m", json!({"unknown": 1}), false)),
        "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .unknown: field not declared in schema"
    );
    assert_eq!(
        message(server.try_apply("m", json!({"metadata": {"managedFields": []}}), false)),
        "metadata.managedFields must be nil"
    );
}

#[test]
fn objects_without_owners_get_one_before_the_first_apply() {
    let mut server = Server::of_config_map();
    server.write("one", json!({"data": {"k": "1"}}));
    server.write("one", json!({"data": {"k": "1"}, "metadata": {"managedFields": [{}]}}));
    server.apply("two", json!({"data": {"l": "1"}}));
    assert_eq!(
        server.owners(),
        "two Apply 03: {\"f:data\":{\"f:l\":{}}}\nbefore-first-apply Update 03: {\"f:data\":{\".\":{},\"f:k\":{}}}"
    );
}

#[test]
fn kubectl_takes_over_what_it_applied_by_annotation() {
    let mut server = Server::of_config_map();
    let last =
        r#"{"apiVersion":"v1","data":{"k":"1","l":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"a"}}"#;
    server.write(
        "kubectl-client-side-apply",
        json!({"data": {"k": "1", "l": "1"}, "metadata": {"annotations": {(ANNOTATION): last}}}),
    );
    assert!(server.try_apply("tool", json!({"data": {"k": "2"}}), false).is_err());
    let live = server.apply("kubectl", json!({"data": {"k": "2"}}));
    assert_eq!(live["data"], json!({"k": "2", "l": "1"}));
    assert_eq!(
        live["metadata"]["annotations"][ANNOTATION],
        "{\"apiVersion\":\"v1\",\"data\":{\"k\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}\n"
    );
    assert!(server.owners().starts_with("kubectl Apply 03: {\"f:data\":{\"f:k\":{}}}"));
}
