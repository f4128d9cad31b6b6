//! Discovery documents: `/api`, `/apis`, per group, per group version, and all at once (KEP-3352).

use std::sync::{Arc, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use machinery::catalog::{Catalog, KindDef, ResourceDef, SubresourceDef, api_version};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// A group version that is served, with the resources in it.
#[derive(Clone)]
pub struct GroupVersions {
    pub group: String,
    pub version: String,
    /// `groupPriorityMinimum` and `versionPriority` of its APIService.
    pub group_priority: i32,
    pub version_priority: i32,
    /// Entries of an `APIResourceList`, sorted by name.
    pub resources: Vec<Value>,
    /// Entries of an `APIVersionDiscovery`.
    pub aggregated: Vec<Value>,
}

/// What all servers of the delegation chain serve; each adds its own.
#[derive(Default)]
pub struct Discovery(RwLock<Arc<Vec<GroupVersions>>>);

impl Discovery {
    /// Adds a group version, in its place by priority.
    pub fn add(&self, added: GroupVersions) {
        let mut guard = self.0.write().unwrap_or_else(|e| e.into_inner());
        let mut all = guard.as_ref().clone();
        all.retain(|g| (&g.group, &g.version) != (&added.group, &added.version));
        all.push(added);
        all.sort_by(|a, b| {
            let priority = b.group_priority.cmp(&a.group_priority).then_with(|| a.group.cmp(&b.group));
            priority
                .then_with(|| b.version_priority.cmp(&a.version_priority))
                .then_with(|| rank(&b.version).cmp(&rank(&a.version)))
        });
        *guard = Arc::new(all);
    }

    /// Everything served now.
    pub fn all(&self) -> Arc<Vec<GroupVersions>> {
        self.0.read().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// The paths of the documents, and those that are always there beside them, for the list at `/`.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> =
            ["/api", "/apis", "/apis/", "/openapi/v2", "/openapi/v3", "/openapi/v3/"].map(String::from).into();
        for GroupVersions { group, version, .. } in self.all().iter() {
            if group.is_empty() {
                paths.push(format!("/api/{version}"));
            } else {
                paths.extend([format!("/apis/{group}"), format!("/apis/{group}/{version}")]);
            }
        }
        paths
    }

    /// `GET /api`
    pub fn api_versions(&self, address: &str) -> Value {
        json!({
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
        })
    }

    /// `GET /apis`
    pub fn group_list(&self) -> Value {
        let all = self.all();
        let groups: Vec<Value> = named_groups(&all).into_iter().map(|name| group_entry(&all, name)).collect();
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    }

    /// `GET /apis/<group>`
    pub fn group(&self, name: &str) -> Option<Value> {
        let all = self.all();
        if name.is_empty() || !all.iter().any(|g| g.group == name) {
            return None;
        }
        let mut out = Map::new();
        out.insert("kind".into(), "APIGroup".into());
        out.insert("apiVersion".into(), "v1".into());
        if let Value::Object(entry) = group_entry(&all, name) {
            out.extend(entry);
        }
        Some(Value::Object(out))
    }

    /// `GET /apis/<group>/<version>`
    pub fn resource_list(&self, group: &str, version: &str) -> Option<Value> {
        let all = self.all();
        let found = all.iter().find(|g| g.group == group && g.version == version)?;
        let mut out = json!({"kind": "APIResourceList"});
        if !group.is_empty() {
            out["apiVersion"] = "v1".into();
        }
        out["groupVersion"] = api_version(group, version).into();
        out["resources"] = found.resources.clone().into();
        Some(out)
    }

    /// `GET /api` or `/apis` as `APIGroupDiscoveryList`.
    pub fn aggregated(&self, core: bool) -> Value {
        let all = self.all();
        let names: Vec<&str> = if core { vec![""] } else { named_groups(&all) };
        let items: Vec<Value> = names
            .into_iter()
            .map(|name| {
                let versions: Vec<Value> = all
                    .iter()
                    .filter(|g| g.group == name)
                    .map(|g| json!({"version": g.version, "resources": g.aggregated, "freshness": "Current"}))
                    .collect();
                let metadata = if name.is_empty() { json!({}) } else { json!({ "name": name }) };
                json!({"metadata": metadata, "versions": versions})
            })
            .collect();
        json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
    }
}

/// Groups in order, core left out.
fn named_groups(all: &[GroupVersions]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for group in all.iter().map(|g| g.group.as_str()).filter(|g| !g.is_empty()) {
        if !names.contains(&group) {
            names.push(group);
        }
    }
    names
}

fn group_entry(all: &[GroupVersions], name: &str) -> Value {
    let versions: Vec<Value> = all
        .iter()
        .filter(|g| g.group == name)
        .map(|g| json!({"groupVersion": api_version(name, &g.version), "version": g.version}))
        .collect();
    let preferred = versions.first().cloned().unwrap_or_default();
    json!({"name": name, "versions": versions, "preferredVersion": preferred})
}

/// `v2` before `v1` before `v1beta1` (`version.CompareKubeAwareVersionStrings`).
fn rank(version: &str) -> (u8, u32, u32) {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let rest = version.strip_prefix('v').unwrap_or(version);
    let major = digits(rest);
    let tail = &rest[major.len()..];
    let minor = |prefix: &str| tail.strip_prefix(prefix).and_then(|t| t.parse().ok());
    let major = major.parse().unwrap_or(0);
    match (tail, minor("beta"), minor("alpha")) {
        ("", _, _) => (3, major, 0),
        (_, Some(n), _) => (2, major, n),
        (_, _, Some(n)) => (1, major, n),
        _ => (0, 0, 0),
    }
}

/// The documents of one group version, from the kinds that are served in it.
pub fn describe(catalog: &Catalog, group: &str, version: &str, kinds: &[&'static KindDef]) -> GroupVersions {
    let def = catalog.groups.iter().find(|g| g.name == group);
    let version_def = def.and_then(|g| g.versions.iter().find(|v| v.name == version));
    let mut served: Vec<(&'static KindDef, &'static ResourceDef)> =
        kinds.iter().filter_map(|k| k.resource.map(|r| (*k, r))).collect();
    served.sort_by_key(|(_, r)| r.plural);
    let mut resources = Vec::new();
    for (kind, resource) in &served {
        resources.push(resource_entry(kind, resource));
        let mut subresources: Vec<&SubresourceDef> = resource.subresources.iter().collect();
        subresources.sort_by_key(|s| s.name);
        resources.extend(subresources.into_iter().map(|s| subresource_entry(kind, resource, s)));
    }
    GroupVersions {
        group: group.into(),
        version: version.into(),
        group_priority: def.map_or(1000, |g| g.priority),
        version_priority: version_def.map_or(15, |v| v.priority),
        resources,
        aggregated: served.iter().map(|(kind, resource)| aggregated_entry(kind, resource)).collect(),
    }
}

fn resource_entry(kind: &KindDef, resource: &ResourceDef) -> Value {
    let mut out = json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": kind.kind,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        out["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        out["categories"] = json!(resource.categories);
    }
    if !resource.key_prefix.is_empty() && resource.verbs.contains(&"list") {
        out["storageVersionHash"] = storage_version_hash(kind, resource).into();
    }
    out
}

/// Base64 of the first eight bytes of SHA-256 of `group/version/kind` in storage (`discovery.StorageVersionHash`).
fn storage_version_hash(kind: &KindDef, resource: &ResourceDef) -> String {
    let (group, version) = resource.storage;
    let digest = Sha256::digest(format!("{group}/{version}/{}", kind.kind));
    STANDARD.encode(&digest[..8])
}

fn subresource_entry(kind: &KindDef, resource: &ResourceDef, sub: &SubresourceDef) -> Value {
    let (group, version, name) = sub.kind;
    let mut out = json!({
        "name": format!("{}/{}", resource.plural, sub.name),
        "singularName": "",
        "namespaced": resource.namespaced,
    });
    if (group, version) != (kind.group, kind.version) {
        out["group"] = group.into();
        out["version"] = version.into();
    }
    out["kind"] = name.into();
    out["verbs"] = json!(sub.verbs);
    out
}

fn aggregated_entry(kind: &KindDef, resource: &ResourceDef) -> Value {
    let mut out = json!({
        "resource": resource.plural,
        "responseKind": {"group": "", "version": "", "kind": kind.kind},
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        out["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        out["categories"] = json!(resource.categories);
    }
    let mut subresources: Vec<&SubresourceDef> = resource.subresources.iter().collect();
    subresources.sort_by_key(|s| s.name);
    if !subresources.is_empty() {
        out["subresources"] = subresources
            .into_iter()
            .map(|s| {
                let (group, version, name) = s.kind;
                let own = (group, version) == (kind.group, kind.version);
                let (group, version) = if own { ("", "") } else { (group, version) };
                json!({
                    "subresource": s.name,
                    "responseKind": {"group": group, "version": version, "kind": name},
                    "verbs": s.verbs,
                })
            })
            .collect();
    }
    out
}
