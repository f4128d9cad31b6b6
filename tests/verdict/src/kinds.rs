//! The tested kinds: as declared, and as exported custom resource definitions.

use std::path::Path;

use codegen::export::{ExportFormat, export};
use codegen::model::{Model, StructId};
use codegen::{Project, examine_project};
use machinery::json::Issues;
use serde_json::Value;

use crate::error::{Error, Result};

/// The group of all kinds.
pub const GROUP: &str = "verdict.example.com";

/// A kind.
pub struct Kind {
    pub name: String,
    pub plural: String,
    pub namespaced: bool,
    pub has_status: bool,
    /// Versions, and the struct that declares the kind in each.
    pub versions: Vec<(String, StructId)>,
}

/// All kinds.
pub struct Kinds {
    pub model: Model,
    pub kinds: Vec<Kind>,
    /// The exported definitions.
    pub definitions: Vec<Value>,
}

impl Kinds {
    /// Reads the declarations, and exports them.
    ///
    /// # Errors
    ///
    /// Fails when the generator rejects the declarations.
    pub fn read() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("kinds");
        let model = examine_project(&Project::external(root)).model;
        let files = export(&model, ExportFormat::Crd, Some(GROUP))?;
        let read = |file: &codegen::emit::File| machinery::yaml::to_value(&file.bytes, &mut Issues::ignore());
        let definitions: Result<Vec<Value>, _> = files.iter().map(read).collect();
        let definitions =
            definitions.map_err(|why| Error::Other(format!("an exported definition is no YAML: {why}")))?;
        let group = model.groups.iter().find(|group| group.name == GROUP);
        let group = group.ok_or_else(|| Error::Other(format!("there is no group {GROUP}")))?;
        let kinds = group.kinds.iter().filter_map(|kind| {
            let resource = kind.resource.as_ref()?;
            let versions = kind.versions.iter().filter_map(|entry| {
                let version = group.versions.iter().find(|version| version.name == entry.version)?;
                Some((entry.version.clone(), *version.structs.get(&kind.name)?))
            });
            Some(Kind {
                name: kind.name.clone(),
                plural: resource.plural.clone(),
                namespaced: resource.namespaced,
                has_status: resource.subresources.iter().any(|one| one.name == "status"),
                versions: versions.collect(),
            })
        });
        let kinds = kinds.collect();
        Ok(Kinds { kinds, definitions, model })
    }
}
