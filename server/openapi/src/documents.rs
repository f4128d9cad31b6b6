//! Which paths and definitions stand in which document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::catalog::{Catalog, GroupVersion};
use crate::endpoints::{self, Discovery};
use crate::item::Item;
use crate::names;
use crate::paths::ResourcePaths;
use crate::references::{SCHEMAS, closure};
use crate::{v2, v3};

/// What documents say about the server itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `info.version`, the release such as `v1.36.2`.
    pub version: String,
    /// Whether the endpoints of the service account issuer are served.
    pub service_account_issuer: bool,
    /// Whether `/logs` is served: `--enable-logs-handler`.
    pub logs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { version: "unversioned".into(), service_account_issuer: true, logs: false }
    }
}

impl Catalog {
    /// The v2 document of everything in the catalog.
    pub fn v2(&self, options: &Options) -> Value {
        let discovery = Discovery::new();
        let mut items = endpoints::well_known(options);
        if !self.versions.is_empty() {
            items.push(discovery.groups());
        }
        items.extend(self.groups().into_iter().map(|group| discovery.group(group)));
        items.extend(self.versions.iter().flat_map(|version| self.items(&discovery, version)));
        items.sort_by(|a, b| a.path.cmp(&b.path));
        let used = closure(SCHEMAS, |name| self.definitions.get(name), items.iter().flat_map(Item::definitions));
        v2::document(self, options, &items, &used)
    }

    /// The v3 documents by path below `/openapi/v3/`, such as `apis/apps/v1`.
    pub fn v3(&self, options: &Options) -> BTreeMap<String, Value> {
        let discovery = Discovery::new();
        let mut documents: BTreeMap<String, (Option<&GroupVersion>, Vec<Item>)> = BTreeMap::new();
        for item in endpoints::well_known(options) {
            let path = document_of(&item.path);
            documents.entry(path).or_default().1.push(item);
        }
        if !self.versions.is_empty() {
            documents.insert("apis".into(), (None, vec![discovery.groups()]));
        }
        for group in self.groups() {
            let item = discovery.group(group);
            documents.insert(document_of(&item.path), (None, vec![item]));
        }
        for version in &self.versions {
            let mut items = self.items(&discovery, version);
            items.sort_by(|a, b| a.path.cmp(&b.path));
            documents.insert(document_of(&version.path()), (Some(version), items));
        }
        let finish = |(path, (version, items)): (String, (Option<&GroupVersion>, Vec<Item>))| {
            let used = closure(SCHEMAS, |name| self.definitions.get(name), items.iter().flat_map(Item::definitions));
            (path, v3::document(self, options, version, &items, &used))
        };
        documents.into_iter().map(finish).collect()
    }

    /// Groups in order of their names.
    fn groups(&self) -> BTreeSet<&str> {
        self.versions.iter().map(|version| version.group.as_str()).collect()
    }

    fn items<'a>(&'a self, discovery: &'a Discovery, version: &'a GroupVersion) -> Vec<Item<'a>> {
        let resources = version.resources.iter();
        let items = resources.flat_map(|resource| ResourcePaths::new(self, version, resource).items());
        std::iter::once(discovery.resources(version)).chain(items).collect()
    }
}

/// The document of a path outside group versions; `/logs/{logpath}` stands with `/logs/`.
fn document_of(path: &str) -> String {
    path.split("/{").next().unwrap_or(path).trim_matches('/').into()
}

/// `DeleteOptions` and `WatchEvent` are known to every group version; a document says it of those that it speaks of.
pub(crate) fn is_shared_by_all(definition: &str) -> bool {
    definition == names::DELETE_OPTIONS || definition == names::WATCH_EVENT
}
