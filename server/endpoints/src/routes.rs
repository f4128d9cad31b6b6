//! Endpoints by group, version and plural. The maps are changed in place, so the cost of an insert
//! does not grow with their number.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::endpoint::Endpoint;

/// Endpoints of a group version by plural.
type Version = BTreeMap<String, Arc<Endpoint>>;

/// Endpoints by group, version and plural.
#[derive(Default)]
pub(crate) struct Routes(BTreeMap<String, BTreeMap<String, Version>>);

impl Routes {
    /// Finds the endpoint of a resource.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Endpoint>> {
        self.0.get(group)?.get(version)?.get(plural)
    }

    /// Whether the group, or one version of it, has endpoints.
    pub fn serves(&self, group: &str, version: Option<&str>) -> bool {
        let Some(versions) = self.0.get(group) else { return false };
        version.is_none_or(|version| versions.contains_key(version))
    }

    /// Returns the endpoints of a group version, sorted by plural.
    pub fn in_version(&self, group: &str, version: &str) -> Vec<Arc<Endpoint>> {
        let endpoints = self.0.get(group).and_then(|versions| versions.get(version));
        endpoints.into_iter().flat_map(BTreeMap::values).cloned().collect()
    }

    /// Inserts an endpoint.
    pub fn insert(&mut self, endpoint: Arc<Endpoint>) {
        let (kind, plural) = (endpoint.kind, endpoint.resource.plural);
        let versions = self.0.entry(kind.group.to_owned()).or_default();
        versions.entry(kind.version.to_owned()).or_default().insert(plural.to_owned(), endpoint);
    }

    /// Removes an endpoint, and its version and group if they become empty.
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
