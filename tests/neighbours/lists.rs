//! Pages and watches across servers: one server continues the list of the other.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api::Api;

/// Objects of each namespace.
const EACH: usize = 7;
/// Coprime with the number of objects, so that pages end within namespaces.
const PAGE: usize = 3;

/// Checks lists of several pages: in all namespaces and in one, of a built-in kind and of a custom
/// one.
pub async fn check(ours: &Api, theirs: &Api, custom: &str, round: &str) {
    let (one, other) = (format!("{round}-a"), format!("{round}-b"));
    for namespace in [&one, &other] {
        theirs.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await;
    }
    let resources = [("/api/v1", "configmaps"), ("/api/v1", "serviceaccounts"), custom.rsplit_once('/').unwrap()];
    for (group, resource) in resources {
        for (index, namespace) in (0..EACH).flat_map(|index| [(index, &one), (index, &other)]) {
            let writer = if index % 2 == 0 { ours } else { theirs };
            let object = object(writer, group, resource, &format!("paged-{index}")).await;
            writer.create(&format!("{group}/namespaces/{namespace}/{resource}"), &object).await;
        }
        for path in [format!("{group}/{resource}"), format!("{group}/namespaces/{one}/{resource}")] {
            same_list(ours, theirs, &path).await;
            pages(ours, theirs, &path).await;
            pages(theirs, ours, &path).await;
        }
        watches(ours, theirs, group, resource, &one).await;
        watches(theirs, ours, group, resource, &one).await;
    }
}

/// Creates a minimal valid object with this name.
async fn object(api: &Api, group: &str, resource: &str, name: &str) -> Value {
    let served = api.get(group).await;
    let kind = served["resources"].as_array().unwrap().iter().find(|known| known["name"] == resource);
    let version = group.trim_start_matches("/apis/").trim_start_matches("/api/");
    json!({"apiVersion": version, "kind": kind.unwrap()["kind"], "metadata": {"name": name}})
}

/// Returns namespace and name of each object, in order.
fn names(list: &Value) -> Vec<String> {
    let name = |item: &Value| format!("{}/{}", item["metadata"]["namespace"], item["metadata"]["name"]);
    list["items"].as_array().unwrap().iter().map(name).collect()
}

/// Checks that both servers return the same list.
async fn same_list(ours: &Api, theirs: &Api, path: &str) {
    let (mut here, mut there) = (ours.get(path).await, theirs.get(path).await);
    for list in [&mut here, &mut there] {
        list["metadata"]["resourceVersion"] = Value::Null;
    }
    assert_eq!(here, there, "{path}");
}

/// Reads each page from the other server; together the pages are the list, in order and without
/// duplicates.
async fn pages(first: &Api, second: &Api, path: &str) {
    let expect = names(&first.get(path).await);
    let (mut found, mut token, mut version) = (Vec::new(), String::new(), Value::Null);
    for server in [first, second].into_iter().cycle() {
        let page = server.get(&format!("{path}?limit={PAGE}&continue={token}")).await;
        found.extend(names(&page));
        let metadata = &page["metadata"];
        let left = expect.len().saturating_sub(found.len());
        let remaining = if left == 0 { Value::Null } else { json!(left) };
        assert_eq!(metadata["remainingItemCount"], remaining, "{}: {path} {metadata}", server.name);
        if version == Value::Null {
            version = metadata["resourceVersion"].clone();
        }
        assert_eq!(metadata["resourceVersion"], version, "{}: all pages show one revision", server.name);
        token = metadata["continue"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(found, expect, "{path}: pages of {} and {} in turn", first.name, second.name);
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
}

/// Watch events of writes through the other server arrive: after a list, and after initial events.
async fn watches(writer: &Api, watcher: &Api, group: &str, resource: &str, namespace: &str) {
    let path = format!("{group}/namespaces/{namespace}/{resource}");
    let listed = writer.get(&path).await;
    let version = listed["metadata"]["resourceVersion"].as_str().unwrap();
    let mut since = watcher.watch(&format!("{path}?resourceVersion={version}")).await;
    let streaming = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    let mut initial = watcher.watch(&format!("{path}?{streaming}&resourceVersion={version}")).await;
    let seen = initial.until(|kind, _| kind == "BOOKMARK").await;
    assert_eq!(seen.len(), listed["items"].as_array().unwrap().len() + 1, "{}: {path}: {seen:?}", watcher.name);

    let name = format!("watched-{}", writer.name);
    let object = object(writer, group, resource, &name).await;
    writer.create(&path, &object).await;
    writer.merge(&format!("{path}/{name}"), &json!({"metadata": {"labels": {"a": "b"}}})).await;
    writer.delete(&format!("{path}/{name}")).await;
    for watch in [&mut since, &mut initial] {
        let mut seen = watch.until(|kind, _| kind == "DELETED").await;
        seen.retain(|(kind, _)| kind != "BOOKMARK");
        let expect = ["ADDED", "MODIFIED", "DELETED"].map(|kind| (kind.to_owned(), name.clone()));
        assert_eq!(seen, expect, "{}: {path}", watcher.name);
    }
}
