//! Enabled kinds: defaults, `--runtime-config` and feature gates
//! (`resourceconfig.MergeAPIResourceConfigs`).

use machinery::catalog::{Catalog, KindDef, Serving};
use options::Options;

use crate::error::RunError;

/// Whether a version of the group is enabled.
pub fn serves(kinds: &[&'static KindDef], group: &str) -> bool {
    kinds.iter().any(|kind| kind.group == group)
}

/// Returns the enabled kinds that have a resource.
pub fn kinds(catalog: &'static Catalog, options: &Options) -> Vec<&'static KindDef> {
    catalog.kinds.iter().filter(|kind| kind.resource.is_some() && is_enabled(kind, options)).collect()
}

/// Rejects settings of unknown groups and versions (`APIEnablementOptions.Validate`,
/// `MergeAPIResourceConfigs`).
///
/// # Errors
/// Returns the unknown ones.
pub fn check(catalog: &'static Catalog, options: &Options) -> Result<(), RunError> {
    let keys = options.runtime_config.iter().map(|(key, _)| key.as_str()).filter(|key| !key.starts_with("api/"));
    let named: Vec<(&str, &str)> = keys
        .filter_map(|key| key.split_once('/'))
        .map(|(g, rest)| (g, rest.split('/').next().unwrap_or(rest)))
        .collect();
    let of = |group: &str| catalog.groups.iter().find(|known| known.name == group);
    let mut unknown: Vec<String> = named
        .iter()
        .filter(|(group, _)| of(group).is_none())
        .map(|(group, version)| format!("{group}/{version}"))
        .collect();
    if !unknown.is_empty() {
        unknown.sort();
        unknown.dedup();
        return Err(RunError::UnknownGroups { groups: unknown });
    }
    let is_version = |group: &str, version: &str| {
        of(group).is_some_and(|known| known.versions.iter().any(|known| known.name == version))
    };
    match named.iter().find(|(group, version)| !is_version(group, version)) {
        Some((group, version)) => {
            Err(RunError::UnknownVersion { group: (*group).to_owned(), version: (*version).to_owned() })
        }
        None => Ok(()),
    }
}

fn is_enabled(kind: &KindDef, options: &Options) -> bool {
    if kind.serving == Serving::Unserved || !(kind.gate.is_empty() || options.features.enabled(kind.gate)) {
        return false;
    }
    let setting = |key: &str| options.runtime_config.iter().rev().find(|(k, _)| k == key).map(|(_, on)| *on);
    let group_version = kind.api_version();
    let plural = kind.resource.map_or("", |r| r.plural);
    let stage = if kind.version.contains("alpha") {
        "api/alpha"
    } else if kind.version.contains("beta") {
        "api/beta"
    } else {
        "api/ga"
    };
    setting(&format!("{group_version}/{plural}"))
        .or_else(|| setting(&group_version))
        .or_else(|| setting(stage))
        .or_else(|| setting("api/all"))
        .unwrap_or(kind.serving == Serving::On)
}
