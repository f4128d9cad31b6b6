//! Ownership after create, update and patch.

use machinery::scalar::FieldsV1;
use serde_json::json;

use super::fixture::{Documents, Server};
use crate::field_set::Filter;
use crate::managed::{self, FieldManagerContext, ReplicasPath, Update};

#[test]
fn a_creator_owns_the_fields_it_sets() {
    let mut server = Server::of_config_map();
    server.write("m", json!({"data": {"k": "v"}, "metadata": {"labels": {"a": "b"}}}));
    assert_eq!(
        server.owners(),
        r#"m Update 01: {"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:a":{}}}}"#
    );
    let mut server = Server::of_deployment();
    server.write("m", json!({"spec": {"strategy": {"type": "Recreate"}, "containers": [{"name": "a"}]}}));
    assert_eq!(
        server.owners(),
        r#"m Update 01: {"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}},"f:strategy":{"f:type":{}}}}"#
    );
}

#[test]
fn an_update_takes_over_the_fields_it_changes() {
    let mut server = Server::of_config_map();
    server.write("one", json!({"data": {"k": "1", "l": "1"}}));
    server.write("two", json!({"data": {"k": "2", "l": "1"}}));
    assert_eq!(
        server.owners(),
        "one Update 01: {\"f:data\":{\".\":{},\"f:l\":{}}}\ntwo Update 02: {\"f:data\":{\"f:k\":{}}}"
    );
    // Without a change, times stay.
    server.write("one", json!({"data": {"k": "2", "l": "1"}}));
    assert!(server.owners().starts_with("one Update 01:"));
    server.write("two", json!({"data": {"l": "1"}}));
    assert_eq!(server.owners(), "one Update 01: {\"f:data\":{\".\":{},\"f:l\":{}}}");
}

#[test]
fn requests_can_replace_and_reset_managed_fields() {
    let entry = |operation: &str| json!([{"manager": "new", "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:k": {}}}}]);
    let mut server = Server::of_config_map();
    server.write("one", json!({"data": {"k": "1"}}));
    server.write("x", json!({"data": {"k": "1"}, "metadata": {"managedFields": entry("Create")}}));
    assert_eq!(server.owners(), r#"one Update 01: {"f:data":{".":{},"f:k":{}}}"#);
    server.write("x", json!({"data": {"k": "1"}, "metadata": {"managedFields": entry("Apply")}}));
    assert_eq!(server.owners(), r#"new Apply -: {"f:data":{"f:k":{}}}"#);
    server.write("x", json!({"data": {"k": "1"}, "metadata": {"managedFields": [{}]}}));
    assert_eq!(server.owners(), "");
    // Updates do not add owners to an object without owners.
    server.write("x", json!({"data": {"k": "2"}}));
    assert_eq!(server.owners(), "");
}

#[test]
fn the_oldest_of_more_than_ten_updaters_share_an_entry() {
    let mut server = Server::of_config_map();
    let mut data = serde_json::Map::new();
    for number in 0..12 {
        data.insert(format!("k{number:02}"), "1".into());
        server.write(&format!("m{number:02}"), json!({"data": data}));
    }
    let owners = server.owners();
    assert_eq!(owners.lines().count(), 10);
    assert_eq!(
        owners.lines().next().unwrap(),
        r#"ancient-changes Update 03: {"f:data":{".":{},"f:k00":{},"f:k01":{},"f:k02":{}}}"#
    );
}

#[test]
fn endpoints_do_not_own_the_fields_they_reset() {
    let filter = Filter::Exclude(crate::FieldSet::of_names([&["data"] as &[&str]]));
    let server = Server::of_config_map();
    let new = json!({"data": {"k": "1"}, "metadata": {"labels": {"a": "b"}}});
    let versions = Documents { def: server.def(), live: None, new };
    let context = FieldManagerContext {
        manager: "m",
        api_version: "v1",
        kind: "ConfigMap",
        subresource: "",
        now: "2001-02-03T04:05:06Z",
        schema: server.schema(),
        filter: &filter,
        schemas: &|_| None,
        convert: &|document, _| Ok(document.clone()),
        zeros_have_owners: false,
    };
    let owners = managed::on_update(&context, &Update { live: None, new: &[], versions: &versions });
    let fields: FieldsV1 = r#"{"f:metadata":{"f:labels":{".":{},"f:a":{}}}}"#.into();
    assert_eq!(owners[0].fields, Some(fields));
}

#[test]
fn scale_has_the_owners_of_replicas() {
    let mappings = [ReplicasPath { api_version: "apps/v1", replicas: Some(&["spec", "replicas"]) }];
    let parent = json!([
        {"manager": "a", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}, "f:paused": {}}}},
        {"manager": "b", "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}
    ]);
    let scale = managed::to_scale(&parent, &mappings).unwrap();
    assert_eq!(
        scale.to_string(),
        r#"[{"manager":"a","operation":"Apply","apiVersion":"autoscaling/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]"#
    );
    let taken = json!([{"manager": "hpa", "operation": "Update", "apiVersion": "autoscaling/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}, "subresource": "scale"}]);
    let parent = managed::scale_to_parent(&parent, &taken, "apps/v1", &mappings).unwrap();
    let owners: Vec<String> =
        parent.as_array().unwrap().iter().map(|e| format!("{} {}", e["manager"], e["fieldsV1"])).collect();
    assert_eq!(
        owners,
        [r#""a" {"f:spec":{"f:paused":{}}}"#, r#""b" {"f:data":{}}"#, r#""hpa" {"f:spec":{"f:replicas":{}}}"#]
    );
}
