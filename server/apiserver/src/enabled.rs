//! Which kinds are served: defaults, `--runtime-config`, feature gates (`resourceconfig.MergeAPIResourceConfigs`).

use machinery::catalog::{Catalog, KindDef, Serving};
use serving::options::Options;

/// Whether a group is served, whichever of its versions.
pub fn serves(kinds: &[&'static KindDef], group: &str) -> bool {
    kinds.iter().any(|kind| kind.group == group)
}

/// The kinds with a resource that this server serves.
pub fn kinds(catalog: &'static Catalog, options: &Options) -> Vec<&'static KindDef> {
    catalog.kinds.iter().filter(|kind| kind.resource.is_some() && is_enabled(kind, options)).collect()
}

fn is_enabled(kind: &KindDef, options: &Options) -> bool {
    if kind.serving == Serving::Unserved || !(kind.gate.is_empty() || options.features.enabled(kind.gate)) {
        return false;
    }
    let said = |key: &str| options.runtime_config.iter().rev().find(|(k, _)| k == key).map(|(_, on)| *on);
    let group_version = kind.api_version();
    let plural = kind.resource.map_or("", |r| r.plural);
    let stage = if kind.version.contains("alpha") {
        "api/alpha"
    } else if kind.version.contains("beta") {
        "api/beta"
    } else {
        "api/ga"
    };
    said(&format!("{group_version}/{plural}"))
        .or_else(|| said(&group_version))
        .or_else(|| said(stage))
        .or_else(|| said("api/all"))
        .unwrap_or(kind.serving == Serving::On)
}
