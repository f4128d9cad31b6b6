//! Discovery documents: `/api`, `/apis`, per group, per group version, and all at once (KEP-3352).

mod aggregated;
mod counts;
mod group_versions;
mod merge;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use machinery::catalog::api_version;
use serde_json::{Map, Value, json};

use aggregated::Remote;
pub use aggregated::{Aggregated, RemoteDocument, RemoteVersion};
use counts::DiscoveryCounts;

use crate::openapi_docs::RemoteOpenApi;
use crate::peers::{self, PeerResources, Peers};
use crate::registrations::{Registration, Registrations};
use crate::versions;
pub use group_versions::GroupVersions;

/// The resources that all servers of the delegation chain serve. Each server adds its own.
#[derive(Default)]
pub struct Discovery {
    local: RwLock<Arc<Vec<GroupVersions>>>,
    /// Discovery of aggregated servers.
    remote: RwLock<Remote>,
    registrations: Registrations,
    /// The other servers of the cluster.
    peers: Peers,
    /// Cached documents of all groups. Every change clears them.
    merged: Mutex<[Option<Arc<Aggregated>>; 3]>,
    counts: DiscoveryCounts,
}

impl Discovery {
    /// Adds a group version, sorted by priority.
    pub fn add(&self, added: GroupVersions) {
        self.change(|all| {
            all.retain(|g| (&g.group, &g.version) != (&added.group, &added.version));
            all.push(added);
            all.sort_by(|a, b| {
                let priority = b.group_priority.cmp(&a.group_priority).then_with(|| a.group.cmp(&b.group));
                priority
                    .then_with(|| b.version_priority.cmp(&a.version_priority))
                    .then_with(|| versions::compare(&b.version, &a.version))
            });
        });
    }

    /// Removes a group version.
    pub fn remove(&self, group: &str, version: &str) {
        self.change(|all| all.retain(|g| (g.group.as_str(), g.version.as_str()) != (group, version)));
    }

    fn change(&self, change: impl FnOnce(&mut Vec<GroupVersions>)) {
        change(Arc::make_mut(&mut self.local.write().unwrap_or_else(PoisonError::into_inner)));
        self.invalidate();
    }

    fn invalidate(&self) {
        *self.merged.lock().unwrap_or_else(PoisonError::into_inner) = [None, None, None];
    }

    /// Returns the group versions that servers of this process serve.
    pub fn all(&self) -> Arc<Vec<GroupVersions>> {
        self.local.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Registered APIServices and their backends.
    pub fn registrations(&self) -> &Registrations {
        &self.registrations
    }

    /// The other servers of the cluster.
    pub fn peers(&self) -> &Peers {
        &self.peers
    }

    /// Sets the resources that the other servers of the cluster serve.
    pub fn set_peer_resources(&self, served: PeerResources) {
        self.peers.set_served(served);
        self.invalidate();
    }

    /// Whether this server, or a server behind it, serves a resource.
    pub fn serves(&self, group: &str, version: &str, plural: &str) -> bool {
        let is_match = |g: &GroupVersions| (g.group.as_str(), g.version.as_str()) == (group, version);
        let local = self.all().iter().any(|g| is_match(g) && g.served.iter().any(|(_, r)| r.plural == plural));
        local || self.registrations.current().backend(group, version).is_some()
    }

    /// Registers the discovery metrics.
    pub fn register_metrics(&self, registry: &prometheus::Registry) {
        self.counts.register(registry);
    }

    /// Returns the discovery of an aggregated server for a group version.
    pub fn remote(&self, group: &str, version: &str) -> Option<RemoteVersion> {
        let remote = self.remote.read().unwrap_or_else(PoisonError::into_inner);
        remote.get(&(group.to_owned(), version.to_owned())).cloned()
    }

    /// Returns the OpenAPI documents of aggregated servers.
    pub(crate) fn remote_openapi(&self) -> RemoteOpenApi {
        let remote = self.remote.read().unwrap_or_else(PoisonError::into_inner);
        let mut out = RemoteOpenApi::default();
        for ((group, version), known) in remote.iter() {
            let path = match group.as_str() {
                "" => format!("api/{version}"),
                _ => format!("apis/{group}/{version}"),
            };
            out.v3.extend(known.openapi.clone().map(|url| (path, url)));
            let new =
                known.openapi_v2.iter().filter(|document| out.v2.iter().all(|other| !Arc::ptr_eq(other, document)));
            let new: Vec<_> = new.cloned().collect();
            out.v2.extend(new);
        }
        out
    }

    /// Sets the discovery of an aggregated server for a group version. `None` removes it.
    pub fn set_remote(&self, group: &str, version: &str, known: Option<RemoteVersion>) {
        let key = (group.to_owned(), version.to_owned());
        {
            let mut remote = self.remote.write().unwrap_or_else(PoisonError::into_inner);
            if remote.get(&key) == known.as_ref() {
                return;
            }
            match known {
                Some(known) => drop(remote.insert(key, known)),
                None => drop(remote.remove(&key)),
            }
        }
        self.invalidate();
    }

    /// Returns the discovery paths and the OpenAPI paths, for the list at `/`.
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> =
            ["/api", "/apis", "/apis/", "/openapi/v2", "/openapi/v3", "/openapi/v3/"].map(String::from).into();
        let (all, registered) = (self.all(), self.registrations.current());
        let local = all.iter().map(|g| (g.group.as_str(), &g.version));
        let remote = registered.remote().map(|(r, _)| (r.group.as_str(), &r.version));
        for (group, version) in local.chain(remote) {
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

    /// `GET /apis`. The group of APIServices comes first; it has no APIService.
    pub fn group_list(&self) -> Value {
        let (all, registered) = (self.all(), self.registrations.current());
        let local = named_groups(&all).into_iter();
        let groups: Vec<Value> = match registered.groups() {
            [] => local.map(|name| group_entry(name, local_versions(&all, name))).collect(),
            groups => {
                let unregistered = local.take(1).filter(|name| registered.group(name).is_none());
                let first = unregistered.map(|name| group_entry(name, local_versions(&all, name)));
                first.chain(groups.iter().filter(|g| !g[0].group.is_empty()).map(|g| registered_entry(g))).collect()
            }
        };
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    }

    /// Whether an APIService for a version of the group is registered.
    pub fn is_registered(&self, group: &str) -> bool {
        self.registrations.current().group(group).is_some()
    }

    /// `GET /apis/<group>`
    pub fn group(&self, name: &str) -> Option<Value> {
        let (all, registered) = (self.all(), self.registrations.current());
        let entry = match registered.group(name) {
            _ if name.is_empty() => return None,
            Some(group) => registered_entry(group),
            None if all.iter().any(|g| g.group == name) => group_entry(name, local_versions(&all, name)),
            None => return None,
        };
        let mut out = Map::new();
        out.insert("kind".into(), "APIGroup".into());
        out.insert("apiVersion".into(), "v1".into());
        if let Value::Object(entry) = entry {
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
        out["resources"] = found.resources().into();
        Some(out)
    }

    /// `GET /api` or `/apis` as `APIGroupDiscoveryList`. Includes the resources of peer servers,
    /// unless `alone`.
    pub fn aggregated(&self, core: bool, alone: bool) -> Arc<Aggregated> {
        if alone {
            self.counts.alone.inc();
        }
        let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        let [of_core, named, everywhere] = &mut *merged;
        let make = || {
            self.counts.made.inc();
            let remote = self.remote.read().unwrap_or_else(PoisonError::into_inner);
            Arc::new(Aggregated::new(&self.all(), &remote, core))
        };
        let place = if core { of_core } else { named };
        let local = place.get_or_insert_with(make);
        let Some(own) = self.peers.own().filter(|_| !core && !alone) else { return local.clone() };
        let counter = if everywhere.is_some() { &self.counts.kept } else { &self.counts.missed };
        counter.inc();
        everywhere.get_or_insert_with(|| self.with_peers(&own, local)).clone()
    }

    /// Merges a document of this server with those of peer servers.
    fn with_peers(&self, own: &str, local: &Arc<Aggregated>) -> Arc<Aggregated> {
        let served = self.peers.served();
        let known: Value = serde_json::from_slice(&local.text).unwrap_or_default();
        let mut servers: BTreeMap<&str, Vec<&Value>> = served.groups().collect();
        servers.insert(own, peers::list(&known, "items").iter().collect());
        merge::groups(&servers).map_or_else(|| local.clone(), |groups| Arc::new(Aggregated::of(groups)))
    }
}

/// Returns the named groups in order, without the core group.
fn named_groups(all: &[GroupVersions]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for group in all.iter().map(|g| g.group.as_str()).filter(|g| !g.is_empty()) {
        if !names.contains(&group) {
            names.push(group);
        }
    }
    names
}

fn local_versions<'a>(all: &'a [GroupVersions], group: &'a str) -> impl Iterator<Item = &'a str> {
    all.iter().filter(move |g| g.group == group).map(|g| g.version.as_str())
}

fn registered_entry(group: &[Registration]) -> Value {
    group_entry(&group[0].group, group.iter().map(|r| r.version.as_str()))
}

fn group_entry<'a>(name: &str, versions: impl Iterator<Item = &'a str>) -> Value {
    let versions: Vec<Value> = versions.map(|v| json!({"groupVersion": api_version(name, v), "version": v})).collect();
    let preferred = versions.first().cloned().unwrap_or_default();
    json!({"name": name, "versions": versions, "preferredVersion": preferred})
}
