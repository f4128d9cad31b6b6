//! Who serves which group version: what APIServices say, in plain terms, kept by whoever follows them.
//!
//! Once there are registrations, they decide which groups and versions clients are shown, and in which order, as upstream's aggregator does;
//! until then it is what the servers of this process serve.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::watch;

use crate::versions;

/// A group version, and who serves it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registration {
    pub group: String,
    pub version: String,
    /// `groupPriorityMinimum`: groups with more come first.
    pub group_priority: i32,
    /// `versionPriority`: versions with more come first.
    pub version_priority: i32,
    /// Another server; none when this one serves it.
    pub backend: Option<Arc<Backend>>,
}

/// An aggregated API server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Backend {
    pub namespace: String,
    pub name: String,
    pub port: i32,
    /// Who signs its certificate, in PEM.
    pub ca_bundle: Vec<u8>,
    /// Whether its certificate is not looked at.
    pub insecure: bool,
    /// Whether it answered when it was last asked.
    pub available: bool,
}

/// All registrations at one moment.
#[derive(Debug, Default)]
pub struct Registered {
    /// By group, in the order in which clients see groups and versions.
    groups: Vec<Vec<Registration>>,
    /// Where each of them is.
    places: HashMap<String, usize>,
    /// Those of other servers, by group and version.
    remote: HashMap<(String, String), Arc<Backend>>,
}

impl Registered {
    /// Puts registrations in order (`helper.SortedByGroupAndVersion`).
    pub fn new(mut all: Vec<Registration>) -> Self {
        all.sort_by_cached_key(|r| (Reverse(r.group_priority), format!("{}.{}", r.version, r.group)));
        let remote = all.iter().filter_map(|r| Some(((r.group.clone(), r.version.clone()), r.backend.clone()?)));
        let mut registered = Registered { remote: remote.collect(), ..Registered::default() };
        for registration in all {
            match registered.places.get(&registration.group) {
                Some(&place) => registered.groups[place].push(registration),
                None => {
                    registered.places.insert(registration.group.clone(), registered.groups.len());
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

    /// Groups in order, each with its versions in order; the core group is one of them.
    pub fn groups(&self) -> &[Vec<Registration>] {
        &self.groups
    }

    /// The versions of a group.
    pub fn group(&self, name: &str) -> Option<&[Registration]> {
        self.places.get(name).map(|&place| self.groups[place].as_slice())
    }

    /// The other server that serves a group version, if one does.
    pub fn backend(&self, group: &str, version: &str) -> Option<&Arc<Backend>> {
        if self.remote.is_empty() {
            return None;
        }
        self.remote.get(&(group.to_owned(), version.to_owned()))
    }

    /// The group versions of other servers.
    pub fn remote(&self) -> impl Iterator<Item = (&Registration, &Arc<Backend>)> {
        self.groups.iter().flatten().filter_map(|r| Some((r, r.backend.as_ref()?)))
    }
}

/// The registrations now, for whoever wants to know when they change.
pub struct Registrations(watch::Sender<Arc<Registered>>);

impl Default for Registrations {
    fn default() -> Self {
        Registrations(watch::Sender::new(Arc::default()))
    }
}

impl Registrations {
    /// Makes these all there are.
    pub fn replace(&self, all: Vec<Registration>) {
        self.0.send_replace(Arc::new(Registered::new(all)));
    }

    /// All there are.
    pub fn current(&self) -> Arc<Registered> {
        self.0.borrow().clone()
    }

    /// To wait for the next change.
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
    fn groups_and_versions_come_in_order_of_priority() {
        for (all, expect) in [
            (&[("b", "v1", 10, 1), ("a", "v1", 20, 1)][..], &["a/v1", "b/v1"][..]),
            // Equal groups come in order of the whole name, `version.group`.
            (&[("a", "v2", 10, 1), ("b", "v1", 10, 1)], &["b/v1", "a/v2"]),
            // A group stands where its highest version wants it.
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
