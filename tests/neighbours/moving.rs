//! A cluster that changes its servers: all stored objects, before and after.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;
use crate::keys::Keys;
use crate::pair::Pair;
use crate::samples::{SERIAL, sample};

/// A resource that can be listed.
pub struct Resource {
    group_version: String,
    kind: String,
    plural: String,
    is_namespaced: bool,
    verbs: Vec<String>,
}

impl Resource {
    fn collection(&self) -> String {
        let prefix = if self.group_version.contains('/') { "apis" } else { "api" };
        let namespace = if self.is_namespaced { "/namespaces/default" } else { "" };
        format!("/{prefix}/{}{namespace}/{}", self.group_version, self.plural)
    }

    fn everywhere(&self) -> String {
        self.collection().replace("/namespaces/default/", "/")
    }

    fn group(&self) -> &str {
        self.group_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// Returns all listable resources in their preferred versions.
pub async fn resources(api: &Api) -> Vec<Resource> {
    let groups = api.get("/apis").await;
    let preferred = groups["groups"].as_array().unwrap().iter().map(|group| &group["preferredVersion"]["groupVersion"]);
    let versions = preferred.map(|version| version.as_str().unwrap().to_owned());
    let mut found = Vec::new();
    for group_version in std::iter::once("v1".to_owned()).chain(versions) {
        let prefix = if group_version == "v1" { "api" } else { "apis" };
        // A group whose APIService is unavailable is not served.
        let (code, list) = api.request(Method::GET, &format!("/{prefix}/{group_version}"), "", None).await;
        for resource in list["resources"].as_array().filter(|_| code == 200).into_iter().flatten() {
            let text = |key: &str| resource[key].as_str().unwrap_or_default().to_owned();
            let verbs = resource["verbs"].as_array().unwrap().iter().map(|verb| verb.as_str().unwrap().to_owned());
            found.push(Resource {
                group_version: group_version.clone(),
                kind: text("kind"),
                plural: text("name"),
                is_namespaced: resource["namespaced"] == true,
                verbs: verbs.collect(),
            });
        }
    }
    found.retain(|resource| resource.verbs.iter().any(|verb| verb == "list"));
    found
}

/// Creates an object of each kind; returns the path and the sent object of each.
pub async fn create(api: &Api, serial: u32) -> Vec<(String, Value)> {
    let account = json!({"metadata": {"name": "default"}});
    api.request(Method::POST, "/api/v1/namespaces/default/serviceaccounts", "application/json", Some(&account)).await;
    let mut paths = Vec::new();
    for resource in resources(api).await {
        let creatable = resource.verbs.iter().any(|verb| verb == "create");
        let Some(sample) = sample(resource.group(), &resource.kind).filter(|_| creatable) else { continue };
        // Both groups of events have the same objects.
        let serial = if resource.group() == "events.k8s.io" { serial + 10 } else { serial };
        let text = sample.to_string().replace(SERIAL, &serial.to_string());
        let mut object: Value = serde_json::from_str(&text).unwrap();
        object["apiVersion"] = resource.group_version.as_str().into();
        object["kind"] = resource.kind.as_str().into();
        let created = api.create(&resource.collection(), &object).await;
        paths.push((format!("{}/{}", resource.collection(), created["metadata"]["name"].as_str().unwrap()), object));
    }
    assert!(paths.len() > 50, "{paths:?}");
    paths
}

/// Adds a label to an object of each kind.
pub async fn label(api: &Api, created: &[(String, Value)]) {
    for (path, _) in created {
        let (code, answer) = api
            .request(Method::PATCH, path, crate::api::MERGE, Some(&json!({"metadata": {"labels": {"moved": "a"}}})))
            .await;
        assert_eq!(code, 200, "{}: {path}: {answer}", api.name);
    }
}

/// Objects as servers of older versions stored them: kind, version, and the members besides
/// metadata.
const OLDER: [(&str, &str, &str); 5] = [
    (
        "HorizontalPodAutoscaler",
        "autoscaling/v1",
        r#"{"spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 7,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}}"#,
    ),
    (
        "FlowSchema",
        "flowcontrol.apiserver.k8s.io/v1beta3",
        r#"{"spec": {"priorityLevelConfiguration": {"name": "absent"}}}"#,
    ),
    (
        "Deployment",
        "apps/v1beta2",
        r#"{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}}"#,
    ),
    (
        "CronJob",
        "batch/v1beta1",
        r#"{"spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": "c", "image": "i"}]}}}}}}"#,
    ),
    ("PodDisruptionBudget", "policy/v1beta1", r#"{"spec": {"minAvailable": 1, "selector": {}}}"#),
];

/// Replaces stored objects by the sent ones: without defaults, or in an older version.
pub async fn store_as_older_server(pair: &Pair, api: &Api, created: &[(String, Value)]) {
    let keys = Keys::read(pair).await;
    for (path, sent) in created {
        let now = api.get(path).await;
        let revision: u64 = now["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
        let key = keys.0.iter().find(|(_, (written, _))| *written == revision).map(|(key, _)| key);
        // Objects that a controller changes are left alone. All recent servers annotate daemon
        // sets.
        let Some(key) = key.filter(|_| sent["kind"] != "DaemonSet") else { continue };
        let mut old = sent.clone();
        if let Some((_, version, body)) = OLDER.iter().find(|(kind, ..)| sent["kind"] == *kind) {
            old = serde_json::from_str(body).unwrap();
            old["apiVersion"] = (*version).into();
            old["kind"] = sent["kind"].clone();
        }
        for member in ["name", "namespace", "uid", "creationTimestamp"] {
            if now["metadata"][member].is_string() {
                old["metadata"][member] = now["metadata"][member].clone();
            }
        }
        pair.etcd_put(key, &old.to_string()).await;
    }
}

/// Returns all listable objects, by path and name, without those that servers change at their
/// start.
pub async fn objects(api: &Api) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for resource in resources(api).await {
        let list = api.get(&resource.everywhere()).await;
        for item in list["items"].as_array().into_iter().flatten() {
            let metadata = &item["metadata"];
            let name = format!("{} {} {}", resource.everywhere(), metadata["namespace"], metadata["name"]);
            all.insert(name, item.clone());
        }
    }
    let is_of_servers = |name: &str| {
        let joined = ["endpoints \"default\" \"kubernetes\"", "endpointslices \"default\" \"kubernetes\""];
        name.contains("\"extension-apiserver-authentication\"")
            || name.contains("leases \"kube-system\" \"apiserver-")
            || name.contains("componentstatuses")
            || joined.iter().any(|joined| name.ends_with(joined))
    };
    all.retain(|name, _| !is_of_servers(name));
    all
}

/// Removes empty lists: this server does not distinguish them from absent ones in objects stored as
/// JSON.
pub fn without_empty_lists(objects: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    fn clear(value: &mut Value) {
        match value {
            Value::Array(items) if items.is_empty() => *value = Value::Null,
            Value::Array(items) => items.iter_mut().for_each(clear),
            Value::Object(members) => members.values_mut().for_each(clear),
            _ => {}
        }
    }
    objects
        .into_iter()
        .map(|(name, mut object)| {
            clear(&mut object);
            (name, object)
        })
        .collect()
}

/// Checks that both servers return the same stored objects.
pub fn assert_same(before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>, server: &str) {
    let lost: Vec<&String> = before.keys().filter(|name| !after.contains_key(*name)).collect();
    let made: Vec<&String> = after.keys().filter(|name| !before.contains_key(*name)).collect();
    assert!(lost.is_empty() && made.is_empty(), "{server}: lost {lost:?}, made {made:?}");
    let differ: Vec<String> = before
        .iter()
        .filter(|(name, object)| after[*name] != **object)
        .map(|(name, object)| format!("{name}\n  {object}\n  {}", after[name]))
        .collect();
    assert!(differ.is_empty(), "{server} returns other objects:\n{}", differ.join("\n"));
}
