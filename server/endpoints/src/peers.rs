//! Peer API servers of the cluster, which may serve resources that this server does not (KEP-4020).
//! Other crates supply the members and the resources that they serve.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::watch;

use crate::error::Error;

/// Group and version.
pub type GroupVersion = (String, String);

/// The API servers of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// The identity of this server.
    pub own: String,
    /// Identities of the other servers, each with a generation. A restarted server has another
    /// generation, because it may serve other resources.
    pub others: BTreeMap<String, String>,
    /// Group versions that are never proxied to peers. All servers know them equally, and the
    /// discovery of a peer may be older than that of this server.
    pub excluded: BTreeSet<GroupVersion>,
}

/// Resolves addresses of servers (upstream: `PeerEndpointLeaseReconciler`).
#[async_trait]
pub trait PeerAddresses: Send + Sync {
    /// Returns `host:port` of the server with this identity.
    ///
    /// # Errors
    /// Returns an error if the server publishes no address, or no longer exists.
    async fn find(&self, server: &str) -> Result<String, Error>;
}

/// An implementation without peers.
pub struct NoPeers;

#[async_trait]
impl PeerAddresses for NoPeers {
    async fn find(&self, server: &str) -> Result<String, Error> {
        Err(Error::UnknownPeer { server: server.to_owned() })
    }
}

/// The resources that the other servers serve.
#[derive(Debug, Default)]
pub struct PeerResources {
    /// Entries of an `APIGroupDiscoveryList` by server, including the core group.
    groups: BTreeMap<String, Vec<Value>>,
    /// Identities of the serving servers, by group, version and plural.
    servers: HashMap<(String, String, String), Vec<String>>,
}

impl PeerResources {
    /// Indexes the discovery of servers, without excluded group versions.
    pub fn new(mut groups: BTreeMap<String, Vec<Value>>, excluded: &BTreeSet<GroupVersion>) -> Self {
        let mut servers: HashMap<_, Vec<String>> = HashMap::new();
        for (server, groups) in &mut groups {
            groups.iter_mut().for_each(|group| remove_excluded(group, excluded));
            groups.retain(|group| !list(group, "versions").is_empty());
            for resource in groups.iter().flat_map(resources) {
                servers.entry(resource).or_default().push(server.clone());
            }
        }
        PeerResources { groups, servers }
    }

    /// Returns the servers that serve a resource.
    pub fn servers(&self, group: &str, version: &str, plural: &str) -> &[String] {
        if self.servers.is_empty() {
            return &[];
        }
        let key = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.servers.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the groups of each server without the core group, which no server shows for others.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&str, Vec<&Value>)> {
        let named = |group: &&Value| !group_name(group).is_empty();
        self.groups.iter().map(move |(server, groups)| (server.as_str(), groups.iter().filter(named).collect()))
    }
}

/// The name of an entry of an `APIGroupDiscoveryList`; empty for the core group.
pub(crate) fn group_name(group: &Value) -> &str {
    group["metadata"]["name"].as_str().unwrap_or_default()
}

/// Returns the entries of a list within an entry.
pub(crate) fn list<'a>(entry: &'a Value, key: &str) -> &'a [Value] {
    entry[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn remove_excluded(group: &mut Value, excluded: &BTreeSet<GroupVersion>) {
    let name = group_name(group).to_owned();
    let is_excluded = |version: &Value| {
        let version = version["version"].as_str().unwrap_or_default();
        excluded.contains(&(name.clone(), version.to_owned()))
    };
    if let Some(versions) = group.get_mut("versions").and_then(Value::as_array_mut) {
        versions.retain(|version| !is_excluded(version));
    }
}

/// Returns group, version and plural of every resource in a group.
fn resources(group: &Value) -> impl Iterator<Item = (String, String, String)> {
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    list(group, "versions").iter().flat_map(move |version| {
        let of = move |resource| (group_name(group).to_owned(), text(version, "version"), text(resource, "resource"));
        list(version, "resources").iter().map(of)
    })
}

/// The peer servers. Subscribers get changes.
pub struct Peers {
    members: watch::Sender<Arc<Members>>,
    served: RwLock<Arc<PeerResources>>,
}

impl Default for Peers {
    fn default() -> Self {
        Peers { members: watch::Sender::new(Arc::default()), served: RwLock::default() }
    }
}

impl Peers {
    /// Replaces the members and notifies subscribers of a change.
    pub fn set_members(&self, members: Members) {
        self.members.send_if_modified(|known| {
            let changed = **known != members;
            if changed {
                *known = Arc::new(members);
            }
            changed
        });
    }

    /// Subscribes to the members.
    pub fn members(&self) -> watch::Receiver<Arc<Members>> {
        self.members.subscribe()
    }

    /// The identity of this server among its peers, once it is set.
    pub(crate) fn own(&self) -> Option<String> {
        Some(self.members.borrow().own.clone()).filter(|own| !own.is_empty())
    }

    /// Returns the resources that the peers serve.
    pub fn served(&self) -> Arc<PeerResources> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_served(&self, served: PeerResources) {
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(served);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn indexes_servers_by_resource() {
        let group = |name: &str, versions: &[(&str, &str)]| {
            let version = |(name, plural): &(&str, &str)| json!({"version": name, "resources": [{"resource": plural}]});
            json!({"metadata": {"name": name}, "versions": versions.iter().map(version).collect::<Vec<_>>()})
        };
        let one = vec![group("", &[("v1", "pods")]), group("batch", &[("v1", "jobs"), ("v2", "jobs")])];
        let two = vec![group("batch", &[("v1", "jobs")]), group("shop", &[("v1", "things")])];
        let groups = BTreeMap::from([("one".to_owned(), one), ("two".to_owned(), two)]);
        let excluded = BTreeSet::from([("shop".to_owned(), "v1".to_owned())]);
        let served = PeerResources::new(groups, &excluded);
        for (group, version, plural, expect) in [
            ("", "v1", "pods", &["one"][..]),
            ("batch", "v1", "jobs", &["one", "two"]),
            ("batch", "v2", "jobs", &["one"]),
            ("batch", "v2", "cronjobs", &[]),
            ("shop", "v1", "things", &[]),
        ] {
            assert_eq!(served.servers(group, version, plural), expect, "{group}/{version} {plural}");
        }
        let shown: Vec<Vec<&str>> =
            served.groups().map(|(_, groups)| groups.into_iter().map(group_name).collect()).collect();
        assert_eq!(shown, [vec!["batch"], vec!["batch"]]);
    }
}
