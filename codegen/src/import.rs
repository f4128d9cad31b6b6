//! Import: converts CustomResourceDefinitions (`apiextensions.k8s.io/v1`) to definitions.
//!
//! The generated definitions are checked as in a build and exported again. Each difference between the
//! export and the input document becomes a warning, so that no loss is silent.
//!
//! See `docs/export.md` and `cargo run -p codegen --bin import`.

mod compare;
mod document;
mod items;
mod known;
mod layout;
mod names;
mod render;
mod repair;
mod schema;
mod types;
mod versions;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Error;
use crate::emit::File;
use crate::export::{ExportFormat, export};
use crate::model::Model;
use document::Crd;
use known::KnownTypes;

/// Result of importing CustomResourceDefinitions.
pub struct Imported {
    /// Files below the root of a package: definitions, and functions that they name.
    pub files: Vec<File>,
    /// A line for each difference between a document and the definitions.
    pub warnings: Vec<String>,
}

/// Converts the CustomResourceDefinitions of a YAML text to definitions.
///
/// Documents of other kinds are skipped with a warning.
///
/// # Errors
/// If the text is not YAML, has no CustomResourceDefinition, or has one that cannot be converted.
///
/// # Examples
/// ```
/// assert!(codegen::import::import("kind: ConfigMap\napiVersion: v1\n").is_err());
/// ```
pub fn import(yaml: &str) -> Result<Imported, Error> {
    let mut warnings = Vec::new();
    let crds = document::read(yaml, &mut warnings)?;
    let mut groups: BTreeMap<&str, Vec<&Crd>> = BTreeMap::new();
    for crd in &crds {
        groups.entry(&crd.group).or_default().push(crd);
    }
    let known = KnownTypes::load();
    let mut files = BTreeMap::new();
    for (group, crds) in groups {
        let hub = hub(group, &crds)?;
        files.extend(render::group(group, &hub, &crds, &known, &mut warnings)?);
    }
    let model = repair::check(&mut files)?;
    for crd in &crds {
        let exported = exported(&model, crd)?;
        warnings.extend(compare::differences(&crd.whole, &exported));
    }
    let files = files.into_iter().map(|(path, text)| File { path, bytes: layout::lines(&text).into_bytes() });
    Ok(Imported { files: files.collect(), warnings })
}

/// The version in which all kinds of a group are declared in full: the storage version of the most
/// kinds.
fn hub(group: &str, crds: &[&Crd]) -> Result<String, Error> {
    let in_all = |name: &str| crds.iter().all(|crd| crd.versions.iter().any(|version| version.name == name));
    let stored = |name: &str| crds.iter().filter(|crd| crd.storage == name).count();
    let names = crds.iter().flat_map(|crd| &crd.versions).map(|version| version.name.as_str());
    let best = names.filter(|name| in_all(name)).max_by_key(|name| (stored(name), crate::names::version_rank(name)));
    best.map(str::to_owned).ok_or_else(|| Error::NoCommonVersion(group.to_owned()))
}

/// The CustomResourceDefinition that the model exports for a kind.
fn exported(model: &Model, crd: &Crd) -> Result<Value, Error> {
    let path = format!("{}.{}.yaml", crd.plural, crd.group);
    let files = export(model, ExportFormat::Crd, Some(&crd.group))?;
    let file = files.into_iter().find(|file| file.path == path);
    let file = file.ok_or_else(|| Error::NotExported(crd.name()))?;
    document::parse(&String::from_utf8_lossy(&file.bytes))
}
