//! Registered group versions and their backends: the content of APIServices, without API types.
//! Another crate keeps them up to date.
//!
//! Once there are registrations, they determine the groups and versions in discovery and their
//! order, as upstream's aggregator does. Until then discovery has the group versions of this
//! process.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::watch;

use crate::versions;

/// A registered group version and its backend.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registration {
    pub group: String,
    pub version: String,
    /// `groupPriorityMinimum`: groups with a higher value come first.
    pub group_priority: i32,
    /// `versionPriority`: versions with a higher value come first.
    pub version_priority: i32,
    /// The aggregated server; none if this server serves the group version.
    pub backend: Option<Arc<AggregatedServer>>,
}

/// An aggregated API server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AggregatedServer {
    pub namespace: String,
    pub name: String,
    pub port: i32,
    /// The CA bundle of its serving certificate, in PEM.
    pub ca_bundle: Vec<u8>,
    /// Whether verification of its serving certificate is disabled.
    pub insecure: bool,
    /// Whether the last availability check succeeded.
    pub available: bool,
}

/// A snapshot of all registrations.
#[derive(Debug, Default)]
pub struct Registered {
    /// By group, in discovery order of groups and versions.
    groups: Vec<Vec<Registration>>,
    /// Index of each group in `groups`.
    indices: HashMap<String, usize>,
    /// Aggregated servers by group and version.
    remote: HashMap<(String, String), Arc<AggregatedServer>>,
}

impl Registered {
    /// Sorts registrations (`helper.SortedByGroupAndVersion`).
    pub fn new(mut all: Vec<Registration>) -> Self {
        all.sort_by_cached_key(|r| (Reverse(r.group_priority), format!("{}.{}", r.version, r.group)));
        let remote = all.iter().filter_map(|r| Some(((r.group.clone(), r.version.clone()), r.backend.clone()?)));
        let mut registered = Registered { remote: remote.collect(), ..Registered::default() };
        for registration in all {
            match registered.indices.get(&registration.group) {
                Some(&place) => registered.groups[place].push(registration),
                None => {
                    registered.indices.insert(registration.group.clone(), registered.groups.len());
                    registered.groups.push(vec![registration]);
                }
            }
        }
        for group in &mut registered.groups {
            group.sort_by(|a, b| {
                b.version_priority.cmp(&a.version_priority).then_with(|| versions::compare(&b.version, &a.version))
            });
        }
        registered
    }

    /// Returns the groups in order, including the core group. The versions of each are in order.
    pub fn groups(&self) -> &[Vec<Registration>] {
        &self.groups
    }

    /// Returns the versions of a group.
    pub fn group(&self, name: &str) -> Option<&[Registration]> {
        self.indices.get(name).map(|&place| self.groups[place].as_slice())
    }

    /// Returns the aggregated server for a group version, if there is one.
    pub fn backend(&self, group: &str, version: &str) -> Option<&Arc<AggregatedServer>> {
        if self.remote.is_empty() {
            return None;
        }
        self.remote.get(&(group.to_owned(), version.to_owned()))
    }

    /// Returns the group versions of aggregated servers.
    pub fn remote(&self) -> impl Iterator<Item = (&Registration, &Arc<AggregatedServer>)> {
        self.groups.iter().flatten().filter_map(|r| Some((r, r.backend.as_ref()?)))
    }
}

/// The current registrations. Subscribers get changes.
pub struct Registrations(watch::Sender<Arc<Registered>>);

impl Default for Registrations {
    fn default() -> Self {
        Registrations(watch::Sender::new(Arc::default()))
    }
}

impl Registrations {
    /// Replaces all registrations.
    pub fn replace(&self, all: Vec<Registration>) {
        self.0.send_replace(Arc::new(Registered::new(all)));
    }

    /// Returns the current registrations.
    pub fn current(&self) -> Arc<Registered> {
        self.0.borrow().clone()
    }

    /// Subscribes to changes.
    pub fn changes(&self) -> watch::Receiver<Arc<Registered>> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(all: &[(&str, &str, i32, i32)]) -> Vec<String> {
        let registration =
            |&(group, version, group_priority, version_priority): &(&str, &str, i32, i32)| Registration {
                group: group.into(),
                version: version.into(),
                group_priority,
                version_priority,
                backend: None,
            };
        let registered = Registered::new(all.iter().map(registration).collect());
        registered.groups().iter().flatten().map(|r| format!("{}/{}", r.group, r.version)).collect()
    }

    #[test]
    fn sorts_groups_and_versions_by_priority() {
        for (all, expect) in [
            (&[("b", "v1", 10, 1), ("a", "v1", 20, 1)][..], &["a/v1", "b/v1"][..]),
            // Groups of equal priority are sorted by the whole name, `version.group`.
            (&[("a", "v2", 10, 1), ("b", "v1", 10, 1)], &["b/v1", "a/v2"]),
            // The highest group priority of its versions determines the position of a group.
            (&[("a", "v1", 10, 9), ("a", "v2", 30, 1), ("b", "v1", 20, 1)], &["a/v1", "a/v2", "b/v1"]),
            (
                &[
                    ("a", "v1beta1", 1, 1),
                    ("a", "v10", 1, 1),
                    ("a", "v2", 1, 1),
                    ("a", "foo", 1, 1),
                    ("a", "bar", 1, 1),
                ],
                &["a/v10", "a/v2", "a/v1beta1", "a/bar", "a/foo"],
            ),
        ] {
            assert_eq!(order(all), expect);
        }
    }
}
