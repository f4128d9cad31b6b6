//! Assigns paths and definitions to documents.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::catalog::{Catalog, GroupVersion};
use crate::endpoints::{self, DiscoveryDefinitions};
use crate::item::Item;
use crate::options::OpenApiOptions;
use crate::paths::ResourcePaths;
use crate::references::{SCHEMAS, closure};
use crate::{v2, v3};

/// The content of a v3 document.
enum Part<'a> {
    /// Paths outside `/api` and `/apis`.
    WellKnown(Vec<Item<'static>>),
    Groups,
    Group(&'a str),
    Version(&'a GroupVersion),
}

impl Catalog {
    /// The v2 document of everything in the catalog.
    pub fn v2(&self, options: &OpenApiOptions) -> Value {
        let discovery = DiscoveryDefinitions::new();
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
    pub fn v3(&self, options: &OpenApiOptions) -> BTreeMap<String, Value> {
        self.parts(options).into_iter().map(|(path, part)| (path, self.v3_part(options, part))).collect()
    }

    /// The paths of the v3 documents.
    pub fn v3_paths(&self, options: &OpenApiOptions) -> BTreeSet<String> {
        self.parts(options).into_keys().collect()
    }

    /// A single v3 document. Other documents are not built.
    pub fn v3_of(&self, options: &OpenApiOptions, path: &str) -> Option<Value> {
        let part = self.parts(options).remove(path)?;
        Some(self.v3_part(options, part))
    }

    /// The content of each v3 document by its path.
    fn parts(&self, options: &OpenApiOptions) -> BTreeMap<String, Part<'_>> {
        let mut parts = BTreeMap::new();
        for item in endpoints::well_known(options) {
            let part = parts.entry(document_of(&item.path)).or_insert_with(|| Part::WellKnown(Vec::new()));
            if let Part::WellKnown(items) = part {
                items.push(item);
            }
        }
        if !self.versions.is_empty() {
            parts.insert("apis".into(), Part::Groups);
        }
        for group in self.groups() {
            let path = if group.is_empty() { "api".into() } else { format!("apis/{group}") };
            parts.insert(path, Part::Group(group));
        }
        parts.extend(self.versions.iter().map(|version| (document_of(&version.path()), Part::Version(version))));
        parts
    }

    fn v3_part(&self, options: &OpenApiOptions, part: Part<'_>) -> Value {
        let discovery = DiscoveryDefinitions::new();
        let (version, items) = match part {
            Part::WellKnown(items) => (None, items),
            Part::Groups => (None, vec![discovery.groups()]),
            Part::Group(group) => (None, vec![discovery.group(group)]),
            Part::Version(version) => {
                let mut items = self.items(&discovery, version);
                items.sort_by(|a, b| a.path.cmp(&b.path));
                (Some(version), items)
            }
        };
        let used = closure(SCHEMAS, |name| self.definitions.get(name), items.iter().flat_map(Item::definitions));
        v3::document(self, options, version, &items, &used)
    }

    /// The groups, sorted by name.
    fn groups(&self) -> BTreeSet<&str> {
        self.versions.iter().map(|version| version.group.as_str()).collect()
    }

    fn items<'a>(&'a self, discovery: &'a DiscoveryDefinitions, version: &'a GroupVersion) -> Vec<Item<'a>> {
        let resources = version.resources.iter();
        let items = resources.flat_map(|resource| ResourcePaths::new(self, version, resource).items());
        std::iter::once(discovery.resources(version)).chain(items).collect()
    }
}

/// The document of a path outside group versions. `/logs/{logpath}` is in the document of `/logs/`.
fn document_of(path: &str) -> String {
    path.split("/{").next().unwrap_or(path).trim_matches('/').into()
}
