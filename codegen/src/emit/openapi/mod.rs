//! Emits the model as an [`openapi::Catalog`], from which that crate builds OpenAPI documents.
//!
//! The bundle that is compiled into the server is the catalog as JSON: `definitions` (schemas in their
//! v3 form, those of versions that are off by default included), `parameters` of the verbs,
//! `known_versions`, and `versions` with their resources. Paths are not stored: they follow from
//! resources and verbs, and the server has the code that generates them for custom resources anyway.
//!
//! At start-up the server reads the bundles of all packages into catalogs and merges them with
//! `Catalog::extend`. It removes unserved versions with `Catalog::retain`, and calls `Catalog::v2` and
//! `Catalog::v3`.

mod definitions;
mod resources;
mod serving;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ::openapi::{Catalog, OpenApiOptions, builtin};
use serde_json::Value;

use self::definitions::Definitions;
use crate::model::{Group, Model};
use serving::META;

/// Types that every server's documents need, regardless of its resources.
const PROTOCOL: [&str; 7] =
    ["APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "DeleteOptions", "Status", "WatchEvent"];

/// The bundle of some groups, from which the server assembles its documents.
///
/// The documentation of the module describes its form.
pub fn bundle(model: &Model, of: &dyn Fn(&Group) -> bool) -> Value {
    serde_json::to_value(catalog_of(model, of)).unwrap_or_default()
}

/// The catalog of the model, with all group versions that can be served.
pub fn catalog(model: &Model) -> Catalog {
    catalog_of(model, &|_| true)
}

fn catalog_of(model: &Model, of: &dyn Fn(&Group) -> bool) -> Catalog {
    let mut definitions = Definitions::new(model);
    let versions = resources::versions(model, of, &mut definitions);
    for name in PROTOCOL {
        definitions.need_named(META, "v1", name);
    }
    let mut made = definitions.finish();
    made.extend(builtin::definitions());
    Catalog {
        definitions: made,
        parameters: resources::parameters(model),
        known_versions: known_versions(model, of),
        versions,
    }
}

/// The v2 document of the versions that are served by default.
pub fn v2(model: &Model) -> Value {
    served_by_default(model).v2(&OpenApiOptions::default())
}

/// The v3 documents of the versions that are served by default, by path.
///
/// Examples of paths are `api/v1` and `apis/apps/v1`.
pub fn v3(model: &Model) -> BTreeMap<String, Value> {
    served_by_default(model).v3(&OpenApiOptions::default())
}

fn served_by_default(model: &Model) -> Catalog {
    let mut catalog = catalog(model);
    catalog.retain_defaults();
    catalog
}

/// The group versions of objects that clients send and receive, versions that are no longer served
/// included.
fn known_versions(model: &Model, of: &dyn Fn(&Group) -> bool) -> Vec<(String, String)> {
    let groups = model.groups.iter().filter(|group| !group.internal && of(group));
    let mut known: Vec<_> = groups
        .flat_map(|group| group.versions.iter().map(|version| (group.name.clone(), version.name.clone())))
        .collect();
    known.sort();
    known
}
