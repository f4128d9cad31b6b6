//! What an API server serves: endpoints by group, version and plural. Changed in place, so that one more costs the same however many there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::endpoint::Endpoint;

/// The endpoints of a group version by plural.
type Version = BTreeMap<String, Arc<Endpoint>>;

/// Endpoints by where they are found.
#[derive(Default)]
pub(crate) struct Routes(BTreeMap<String, BTreeMap<String, Version>>);

impl Routes {
    /// The endpoint of a resource.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Endpoint>> {
        self.0.get(group)?.get(version)?.get(plural)
    }

    /// Whether anything of a group is served, or of one version of it.
    pub fn serves(&self, group: &str, version: Option<&str>) -> bool {
        let Some(versions) = self.0.get(group) else { return false };
        version.is_none_or(|version| versions.contains_key(version))
    }

    /// The endpoints of a group version, in order of their plurals.
    pub fn in_version(&self, group: &str, version: &str) -> Vec<Arc<Endpoint>> {
        let endpoints = self.0.get(group).and_then(|versions| versions.get(version));
        endpoints.into_iter().flat_map(BTreeMap::values).cloned().collect()
    }

    /// Puts an endpoint in its place.
    pub fn insert(&mut self, endpoint: Arc<Endpoint>) {
        let (kind, plural) = (endpoint.kind, endpoint.resource.plural);
        let versions = self.0.entry(kind.group.to_owned()).or_default();
        versions.entry(kind.version.to_owned()).or_default().insert(plural.to_owned(), endpoint);
    }

    /// Takes an endpoint away, and what is empty without it.
    pub fn remove(&mut self, endpoint: &Endpoint) {
        let kind = endpoint.kind;
        let Some(versions) = self.0.get_mut(kind.group) else { return };
        if let Some(version) = versions.get_mut(kind.version) {
            version.remove(endpoint.resource.plural);
        }
        versions.retain(|_, version| !version.is_empty());
        if versions.is_empty() {
            self.0.remove(kind.group);
        }
    }
}
