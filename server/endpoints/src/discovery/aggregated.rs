//! Aggregated discovery: all groups in one document (`APIGroupDiscoveryList`, KEP-3352). It has the
//! groups of this server and of aggregated servers (upstream:
//! `discovery/aggregated.ResourceManager`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

use super::GroupVersions;
use crate::versions;

/// The last known discovery of a group version of an aggregated server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteVersion {
    pub group_priority: i32,
    pub version_priority: i32,
    /// Entries of an `APIVersionDiscovery`; empty if no server was ever reached.
    pub resources: Vec<Value>,
    /// Whether the last discovery request reached the server.
    pub current: bool,
    /// The URL of its OpenAPI v3 document, with its hash.
    pub openapi: Option<String>,
    /// The OpenAPI v2 document of its server.
    pub openapi_v2: Option<Arc<RemoteDocument>>,
}

/// A document of another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteDocument {
    /// The server's ETag; empty if the response has none.
    pub etag: String,
    /// The SHA-512 hash of `text`, in hexadecimal.
    pub hash: String,
    pub text: Bytes,
}

impl RemoteDocument {
    /// Creates a document from a response.
    pub fn new(etag: String, text: Bytes) -> Self {
        RemoteDocument { etag, hash: format!("{:x}", Sha512::digest(&text)), text }
    }
}

/// Aggregated group versions, by group and version.
pub(super) type Remote = BTreeMap<(String, String), RemoteVersion>;

/// A discovery document and its ETag.
#[derive(Debug)]
pub struct Aggregated {
    /// In JSON.
    pub text: Bytes,
    /// Quoted, as in headers.
    pub etag: String,
}

impl Aggregated {
    /// Version and kind of the document.
    pub const KIND: (&str, &str) = ("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList");

    /// Builds the document of the core group, or of all others. An aggregated group version
    /// replaces a local one.
    pub(super) fn new(local: &[GroupVersions], remote: &Remote, core: bool) -> Self {
        Self::of(entries(local, remote, core))
    }

    /// Builds the document of these groups.
    pub(super) fn of(groups: Vec<Value>) -> Self {
        let items = Value::from(groups).to_string();
        let etag =
            Sha512::digest(&items).iter().fold("\"".to_owned(), |text, byte| text + &format!("{byte:02X}")) + "\"";
        let (api_version, kind) = Self::KIND;
        let text =
            format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",\"metadata\":{{}},\"items\":{items}}}\n");
        Aggregated { text: text.into(), etag }
    }
}

/// A version in the document: its priorities and its entry.
struct Version<'a> {
    name: &'a str,
    group_priority: i32,
    priority: i32,
    entry: Value,
}

fn entries(local: &[GroupVersions], remote: &Remote, core: bool) -> Vec<Value> {
    let mut groups: BTreeMap<&str, Vec<Version<'_>>> = BTreeMap::new();
    for ((group, version), known) in remote.iter().filter(|((group, _), _)| group.is_empty() == core) {
        let mut entry = json!({ "version": version });
        if !known.resources.is_empty() {
            entry["resources"] = known.resources.clone().into();
        }
        entry["freshness"] = if known.current { "Current" } else { "Stale" }.into();
        let (group_priority, priority) = (known.group_priority, known.version_priority);
        groups.entry(group).or_default().push(Version { name: version, group_priority, priority, entry });
    }
    for served in local.iter().filter(|served| served.group.is_empty() == core) {
        if remote.contains_key(&(served.group.clone(), served.version.clone())) {
            continue;
        }
        groups.entry(&served.group).or_default().push(Version {
            name: &served.version,
            group_priority: served.group_priority,
            priority: served.version_priority,
            entry: json!({"version": served.version, "resources": served.aggregated(), "freshness": "Current"}),
        });
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(name, versions)| (Reverse(versions.iter().map(|v| v.group_priority).max()), *name));
    groups.into_iter().map(|(name, versions)| group(name, versions)).collect()
}

fn group(name: &str, mut versions: Vec<Version<'_>>) -> Value {
    versions.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| versions::compare(b.name, a.name)));
    let metadata = if name.is_empty() { json!({}) } else { json!({ "name": name }) };
    json!({"metadata": metadata, "versions": versions.into_iter().map(|version| version.entry).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(group: &str, version: &str, group_priority: i32) -> GroupVersions {
        let (group, version) = (group.to_owned(), version.to_owned());
        GroupVersions { group, version, group_priority, version_priority: 1, served: Vec::new() }
    }

    fn remote(group: &str, version: &str, group_priority: i32, current: bool) -> ((String, String), RemoteVersion) {
        let known = RemoteVersion {
            group_priority,
            version_priority: 2,
            resources: Vec::new(),
            current,
            openapi: None,
            openapi_v2: None,
        };
        ((group.to_owned(), version.to_owned()), known)
    }

    #[test]
    fn merges_aggregated_servers() {
        let local = [local("apps", "v1", 100), local("shop", "v1", 10), local("", "v1", 1)];
        let seen = |remote: &Remote| {
            let merged = Aggregated::new(&local, remote, false);
            let document: Value = serde_json::from_slice(&merged.text).unwrap();
            let groups = document["items"].as_array().unwrap().clone();
            let version =
                |v: &Value| format!("{}:{}", v["version"].as_str().unwrap(), v["freshness"].as_str().unwrap());
            let versions =
                |g: &Value| g["versions"].as_array().unwrap().iter().map(version).collect::<Vec<_>>().join(",");
            let names = groups.iter().map(|g| format!("{} {}", g["metadata"]["name"].as_str().unwrap(), versions(g)));
            (names.collect::<Vec<_>>(), merged.etag)
        };
        let (names, etag) = seen(&Remote::new());
        assert_eq!(names, ["apps v1:Current", "shop v1:Current"]);
        let (names, other) = seen(&Remote::from([
            remote("metrics", "v1", 200, false),
            remote("shop", "v1", 10, true),
            remote("shop", "v2", 10, true),
        ]));
        assert_eq!(names, ["metrics v1:Stale", "apps v1:Current", "shop v2:Current,v1:Current"]);
        assert!(etag != other && etag.len() == 130 && etag.starts_with('"'));
    }
}
