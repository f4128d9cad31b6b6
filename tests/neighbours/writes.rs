//! Objects that both servers write: field ownership, patches, deletion.

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;

/// Returns the steps of a conversation: field managers, and the objects that they apply or update.
fn steps(version: &str, kind: &str, name: &str) -> Vec<(&'static str, Value)> {
    let object = |body: Value| {
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
        object.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        object
    };
    if kind == "Deployment" {
        let template = |containers: Value| {
            json!({"replicas": 2, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}}})
        };
        let full = template(json!([{"name": "a", "image": "a:1", "ports": [{"containerPort": 80}]}]));
        return vec![
            ("first", object(json!({"spec": full}))),
            (
                "second",
                object(json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a:1"},
                {"name": "b", "image": "b:1"}]}}}})),
            ),
            (
                "second",
                object(json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a:2"}]}}}})),
            ),
            ("first", object(json!({"spec": template(json!([{"name": "a", "image": "a:1"}]))}))),
            ("", json!({"spec": {"replicas": 3}})),
            ("first", object(json!({"spec": {"replicas": 4}}))),
        ];
    }
    vec![
        ("first", object(json!({"data": {"a": "1", "b": "1"}}))),
        ("second", object(json!({"data": {"c": "1"}}))),
        ("second", object(json!({"data": {"a": "2"}}))),
        ("first", object(json!({"data": {"a": "1"}}))),
        ("", json!({"data": {"a": "3", "d": "1"}})),
        ("first", object(json!({"data": {"a": "1"}}))),
        ("", json!({"metadata": {"labels": {"a": "b"}}, "data": {"d": null}})),
    ]
}

/// An object applied alternately through both servers gets the same managers and conflicts as
/// through one server.
pub async fn apply(ours: &Api, theirs: &Api, custom: &str, round: &str) {
    let custom = (custom, "example.com/v1", "Neighbour");
    let resources =
        [("/api/v1/configmaps", "v1", "ConfigMap"), ("/apis/apps/v1/deployments", "apps/v1", "Deployment"), custom];
    for (resource, version, kind) in resources {
        let (group, plural) = resource.rsplit_once('/').unwrap();
        let collection = format!("{group}/namespaces/default/{plural}");
        let alone = conversation(&[theirs], &collection, version, kind, &format!("{round}-alone")).await;
        for (name, servers) in [("in-turn", [ours, theirs]), ("turned", [theirs, ours])] {
            let both = conversation(&servers, &collection, version, kind, &format!("{round}-{name}")).await;
            assert_eq!(both, alone, "{kind}: {name}");
        }
    }
}

/// Returns the responses of the steps, without values that are unique to an object.
async fn conversation(servers: &[&Api], collection: &str, version: &str, kind: &str, name: &str) -> Vec<Value> {
    let path = format!("{collection}/{name}");
    let mut answers = Vec::new();
    for (index, (manager, body)) in steps(version, kind, name).into_iter().enumerate() {
        let server = servers[index % servers.len()];
        let (code, answer) = match manager {
            "" => (200, server.merge(&format!("{path}?fieldManager=third"), &body).await),
            manager => server.apply(&path, manager, &body).await,
        };
        let text = answer.to_string().replace(name, "NAME");
        answers.push(json!([code, normal(serde_json::from_str(&text).unwrap())]));
    }
    let last = servers[0].delete(&path).await;
    assert!(last["status"] == "Success" || last["metadata"]["name"] == name, "{last}");
    answers
}

/// Returns an object without times, versions and UIDs.
fn normal(mut answer: Value) -> Value {
    if let Some(metadata) = answer["metadata"].as_object_mut() {
        for key in ["uid", "resourceVersion", "creationTimestamp"] {
            metadata.remove(key);
        }
        if let Some(entries) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) {
            entries.iter_mut().for_each(|entry| entry["time"] = Value::Null);
            // Entries are ordered by their times in seconds, so the order depends on the moment of
            // the test.
            entries.sort_by_key(Value::to_string);
        }
    }
    answer
}

/// One server patches and deletes the objects of the other; both respect finalizers and owner
/// references.
pub async fn delete(one: &Api, other: &Api, round: &str) {
    let maps = "/api/v1/namespaces/default/configmaps";
    let name = format!("{round}-deleted-{}", one.name);
    let path = format!("{maps}/{name}");
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "finalizers": ["example.com/held"], "labels": {"round": round}}, "data": {"a": "1"}});
    let created = one.create(maps, &object).await;
    let stale = created["metadata"]["resourceVersion"].clone();
    other.merge(&path, &json!({"data": {"a": "2"}})).await;
    let mut old = created.clone();
    old["data"]["a"] = "3".into();
    let (code, answer) = one.request(Method::PUT, &path, "application/json", Some(&old)).await;
    assert_eq!((code, &answer["reason"]), (409, &json!("Conflict")), "{}: {stale} is old: {answer}", one.name);

    let deleted = other.delete(&path).await;
    assert!(deleted["metadata"]["deletionTimestamp"].is_string(), "{}: {deleted}", other.name);
    let held = one.get(&path).await;
    assert_eq!(held["metadata"]["deletionTimestamp"], deleted["metadata"]["deletionTimestamp"]);
    let dependent = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("{name}-dependent"),
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": created["metadata"]["uid"],
            "controller": true, "blockOwnerDeletion": true}], "labels": {"round": round}}});
    one.create(maps, &dependent).await;
    one.merge(&path, &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!((one.code(&path).await, other.code(&path).await), (404, 404), "{path}");

    // Without a garbage collector, a foreground deletion does not complete, at either server.
    let path = format!("{path}-dependent");
    let foreground = json!({"propagationPolicy": "Foreground"});
    let (_, waiting) = other.request(Method::DELETE, &path, "application/json", Some(&foreground)).await;
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]), "{}: {waiting}", other.name);
    one.merge(&path, &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!((one.code(&path).await, other.code(&path).await), (404, 404), "{path}");
    collection(one, other, maps, round).await;
}

/// A deletecollection through one server deletes the objects of both.
async fn collection(one: &Api, other: &Api, maps: &str, round: &str) {
    for (index, server) in [one, other, one, other].into_iter().enumerate() {
        let object = json!({"metadata": {"name": format!("{round}-many-{index}"), "labels": {"many": round}}});
        server.create(maps, &object).await;
    }
    let selected = format!("{maps}?labelSelector=many%3D{round}");
    let deleted = other.delete(&selected).await;
    assert!(deleted["items"].as_array().is_some_and(|items| items.len() == 4), "{}: {deleted}", other.name);
    assert_eq!(one.get(&selected).await["items"], json!([]));
}
