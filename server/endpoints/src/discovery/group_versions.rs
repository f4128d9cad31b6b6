//! The kinds of a group version, and their discovery entries.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use machinery::catalog::{Catalog, KindDef, ResourceDef, SubresourceDef};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A served group version. Its discovery entries are built on request, because they are many times
/// as large.
#[derive(Clone)]
pub struct GroupVersions {
    pub group: String,
    pub version: String,
    /// `groupPriorityMinimum` and `versionPriority` of its APIService.
    pub group_priority: i32,
    pub version_priority: i32,
    /// Sorted by plural.
    pub(super) served: Vec<(&'static KindDef, &'static ResourceDef)>,
}

impl GroupVersions {
    /// Creates a group version with its served kinds. Priorities are those of the catalog; others
    /// get those of custom resources.
    pub fn new(catalog: &Catalog, group: &str, version: &str, kinds: Vec<&'static KindDef>) -> Self {
        let def = catalog.groups.iter().find(|g| g.name == group);
        let version_def = def.and_then(|g| g.versions.iter().find(|v| v.name == version));
        let mut served: Vec<_> = kinds.into_iter().filter_map(|k| k.resource.map(|r| (k, r))).collect();
        served.sort_by_key(|(_, r)| r.plural);
        GroupVersions {
            group: group.into(),
            version: version.into(),
            group_priority: def.map_or(1000, |g| g.priority),
            version_priority: version_def.map_or(15, |v| v.priority),
            served,
        }
    }

    /// Builds the entries of an `APIResourceList`.
    pub(super) fn resources(&self) -> Vec<Value> {
        let mut resources = Vec::new();
        for (kind, resource) in &self.served {
            resources.push(resource_entry(kind, resource));
            resources.extend(subresources(kind, resource).into_iter().map(|s| subresource_entry(kind, resource, s)));
        }
        resources
    }

    /// Builds the entries of an `APIVersionDiscovery`.
    pub(super) fn aggregated(&self) -> Vec<Value> {
        self.served.iter().map(|(kind, resource)| aggregated_entry(kind, resource)).collect()
    }
}

pub(super) fn resource_entry(kind: &KindDef, resource: &ResourceDef) -> Value {
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

pub(super) fn subresource_entry(kind: &KindDef, resource: &ResourceDef, sub: &SubresourceDef) -> Value {
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

pub(super) fn aggregated_entry(kind: &KindDef, resource: &'static ResourceDef) -> Value {
    // As upstream: custom resources always include the group version of their kind. Others include
    // it only if it differs from their own.
    let own = if registry::is_text(kind) { (kind.group, kind.version) } else { ("", "") };
    let mut out = json!({
        "resource": resource.plural,
        "responseKind": {"group": own.0, "version": own.1, "kind": kind.kind},
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
    let subresources = subresources(kind, resource);
    if !subresources.is_empty() {
        out["subresources"] = subresources
            .into_iter()
            .map(|s| {
                let (group, version, name) = s.kind;
                let is_own = (group, version) == (kind.group, kind.version);
                let (group, version) = if is_own { own } else { (group, version) };
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

/// Returns subresources sorted by name; those of custom resources in the order of their definition.
pub(super) fn subresources(kind: &KindDef, resource: &'static ResourceDef) -> Vec<&'static SubresourceDef> {
    let mut subresources: Vec<&SubresourceDef> = resource.subresources.iter().collect();
    if !registry::is_text(kind) {
        subresources.sort_by_key(|s| s.name);
    }
    subresources
}

/// Base64 of the first eight bytes of SHA-256 of `group/version/kind` in storage (`discovery.StorageVersionHash`).
pub(super) fn storage_version_hash(kind: &KindDef, resource: &ResourceDef) -> String {
    let (group, version) = resource.storage;
    let digest = Sha256::digest(format!("{group}/{version}/{}", kind.kind));
    STANDARD.encode(&digest[..8])
}
