//! Other servers of the same cluster, which may serve what this one does not (KEP-4020): who they are, told by whoever knows them, and what
//! they serve, told by whoever asks them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::watch;

/// Group and version.
pub type GroupVersion = (String, String);

/// The servers of the cluster at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// What this server is known by.
    pub own: String,
    /// What the others are known by, and a name for the time since each was started: one that began anew may serve other things.
    pub others: BTreeMap<String, String>,
    /// What no other server is asked for: all know of it alike, and what they say of it may be older than what this one knows.
    pub excluded: BTreeSet<GroupVersion>,
}

/// Finds out where servers are (upstream: `PeerEndpointLeaseReconciler`). Whoever knows their leases implements it.
#[async_trait]
pub trait PeerAddresses: Send + Sync {
    /// `host:port` of the server that is known by this.
    ///
    /// # Errors
    /// When it does not say, or is gone.
    async fn find(&self, server: &str) -> Result<String, String>;
}

/// No server is known.
pub struct NoPeers;

#[async_trait]
impl PeerAddresses for NoPeers {
    async fn find(&self, server: &str) -> Result<String, String> {
        Err(format!("{server} is not known to this server"))
    }
}

/// What the other servers serve at one moment.
#[derive(Debug, Default)]
pub struct PeerResources {
    /// Entries of an `APIGroupDiscoveryList` by server, those of the core group too.
    groups: BTreeMap<String, Vec<Value>>,
    /// By group, version and plural, who serves it.
    servers: HashMap<(String, String, String), Vec<String>>,
}

impl PeerResources {
    /// What servers say of themselves, without group versions that are not to be looked for there.
    pub fn new(mut groups: BTreeMap<String, Vec<Value>>, excluded: &BTreeSet<GroupVersion>) -> Self {
        let mut servers: HashMap<_, Vec<String>> = HashMap::new();
        for (server, groups) in &mut groups {
            groups.iter_mut().for_each(|group| leave_out(group, excluded));
            groups.retain(|group| !list(group, "versions").is_empty());
            for resource in groups.iter().flat_map(resources) {
                servers.entry(resource).or_default().push(server.clone());
            }
        }
        PeerResources { groups, servers }
    }

    /// The servers that serve a resource.
    pub fn servers(&self, group: &str, version: &str, plural: &str) -> &[String] {
        if self.servers.is_empty() {
            return &[];
        }
        let key = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.servers.get(&key).map(Vec::as_slice).unwrap_or_default()
    }

    /// What each server says of all groups but the core's, which no server shows for others.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&str, Vec<&Value>)> {
        let named = |group: &&Value| !group_name(group).is_empty();
        self.groups.iter().map(move |(server, groups)| (server.as_str(), groups.iter().filter(named).collect()))
    }
}

/// The name of an entry of an `APIGroupDiscoveryList`; empty for the core group.
pub(crate) fn group_name(group: &Value) -> &str {
    group["metadata"]["name"].as_str().unwrap_or_default()
}

/// The entries of a list within an entry.
pub(crate) fn list<'a>(entry: &'a Value, key: &str) -> &'a [Value] {
    entry[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn leave_out(group: &mut Value, excluded: &BTreeSet<GroupVersion>) {
    let name = group_name(group).to_owned();
    let is_excluded = |version: &Value| {
        let version = version["version"].as_str().unwrap_or_default();
        excluded.contains(&(name.clone(), version.to_owned()))
    };
    if let Some(versions) = group.get_mut("versions").and_then(Value::as_array_mut) {
        versions.retain(|version| !is_excluded(version));
    }
}

/// Group, version and plural of everything in a group.
fn resources(group: &Value) -> impl Iterator<Item = (String, String, String)> {
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    list(group, "versions").iter().flat_map(move |version| {
        let of = move |resource| (group_name(group).to_owned(), text(version, "version"), text(resource, "resource"));
        list(version, "resources").iter().map(of)
    })
}

/// The other servers, for whoever wants to know when they change.
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
    /// Makes these all there are.
    pub fn tell(&self, members: Members) {
        self.members.send_if_modified(|known| {
            let changed = **known != members;
            if changed {
                *known = Arc::new(members);
            }
            changed
        });
    }

    /// Who there is, and to wait for the next change.
    pub fn members(&self) -> watch::Receiver<Arc<Members>> {
        self.members.subscribe()
    }

    /// What this server is known by among others, once that was told.
    pub(crate) fn own(&self) -> Option<String> {
        Some(self.members.borrow().own.clone()).filter(|own| !own.is_empty())
    }

    /// What they serve.
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
    fn who_serves_what() {
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
