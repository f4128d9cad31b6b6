//! Exports: definitions in formats of other tools. The server depends on none of them, and none are
//! checked in.
//!
//! See `docs/export.md` and `cargo run -p codegen --bin export`.

mod clients;
mod command;
mod crd;
mod groups;
mod markdown;
mod moves;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod yaml;

use std::collections::BTreeSet;

pub use command::command;

use crate::Error;
use crate::diagnostics::did_you_mean;
use crate::emit::{File, openapi, proto};
use crate::model::{Group, Model, Package};
use groups::{folder, serving};

/// Format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// CustomResourceDefinitions, one file per kind.
    Crd,
    /// `.proto` files, one per group version.
    Proto,
    /// OpenAPI documents of the versions that are served by default.
    OpenApi,
    /// A reference manual, one page per group.
    Markdown,
    /// Rust types for `kube`.
    Rust,
    /// Go types for client-go and controller-runtime.
    Go,
    /// TypeScript interfaces.
    TypeScript,
}

impl ExportFormat {
    /// The format with this name on the command line.
    ///
    /// # Errors
    /// [`Error::UnknownFormat`] if no format has the name.
    pub fn named(name: &str) -> Result<ExportFormat, Error> {
        match name {
            "crd" => Ok(ExportFormat::Crd),
            "proto" => Ok(ExportFormat::Proto),
            "openapi" => Ok(ExportFormat::OpenApi),
            "markdown" => Ok(ExportFormat::Markdown),
            "rust" => Ok(ExportFormat::Rust),
            "go" => Ok(ExportFormat::Go),
            "typescript" => Ok(ExportFormat::TypeScript),
            _ => Err(Error::UnknownFormat(name.to_string())),
        }
    }
}

/// The files of an export, of all groups or of one.
///
/// `group` is the name of a group or of its folder.
///
/// # Errors
/// If there is no such group, or if the format cannot express the definitions.
///
/// # Examples
/// ```
/// use codegen::export::{ExportFormat, export};
/// use codegen::model::{Group, Model};
///
/// # fn main() -> Result<(), codegen::Error> {
/// let shop = Group { name: "shop.example.com".into(), module: "shop".into(), ..Group::default() };
/// let model = Model { groups: vec![shop], ..Model::default() };
/// let files = export(&model, ExportFormat::named("markdown")?, Some("shop.example.com"))?;
/// assert_eq!(files[0].path, "shop.md");
/// assert!(export(&model, ExportFormat::Crd, None).is_err(), "the group has no kinds");
/// # Ok(())
/// # }
/// ```
pub fn export(model: &Model, format: ExportFormat, group: Option<&str>) -> Result<Vec<File>, Error> {
    let group = group.map(|name| find(model, name)).transpose()?;
    match format {
        ExportFormat::Crd => crd::files(model, group),
        ExportFormat::Proto => Ok(protos(model, group)),
        ExportFormat::OpenApi => Ok(openapi_documents(model, group)),
        ExportFormat::Markdown => Ok(markdown::files(model, group)),
        ExportFormat::Rust => clients::rust::files(model, group),
        ExportFormat::Go => clients::go::files(model, group, None),
        ExportFormat::TypeScript => clients::typescript::files(model, group),
    }
}

/// The Go packages of one group or of all custom groups.
///
/// They import each other below the path `module`.
///
/// # Errors
/// As [`export`].
pub fn go_packages(model: &Model, group: Option<&str>, module: &str) -> Result<Vec<File>, Error> {
    let group = group.map(|name| find(model, name)).transpose()?;
    clients::go::files(model, group, Some(module))
}

/// A group by its name or folder; `core` is the group with the empty name.
fn find<'m>(model: &'m Model, name: &str) -> Result<&'m Group, Error> {
    let matches = |group: &&Group| folder(group) == name || (group.name == name && !name.is_empty());
    model.groups.iter().find(matches).ok_or_else(|| {
        let folders: Vec<String> = model.groups.iter().map(folder).collect();
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        Error::UnknownGroup { name: name.to_string(), near: did_you_mean(name, &folders).map(str::to_string) }
    })
}

/// All `.proto` files, or those of a group and their imports.
fn protos(model: &Model, group: Option<&Group>) -> Vec<File> {
    let mut files = proto::files(model, Package::Generated);
    files.extend(proto::files(model, Package::Own));
    for file in &mut files {
        file.path = file.path.trim_start_matches("proto/").to_string();
    }
    if let Some(group) = group {
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<String> = group.versions.iter().map(|version| proto::path(group, version)).collect();
        while let Some(path) = open.pop() {
            if wanted.insert(path.clone()) {
                open.extend(files.iter().filter(|file| file.path == path).flat_map(imports));
            }
        }
        files.retain(|file| wanted.contains(&file.path));
    }
    files
}

fn imports(file: &File) -> Vec<String> {
    let text = String::from_utf8_lossy(&file.bytes);
    let imports = text.lines().filter_map(|line| line.strip_prefix("import \"")?.strip_suffix("\";"));
    imports.map(String::from).collect()
}

/// `v2.json` and `v3/<path>.json`; for one group only the latter, because v2 is a single document of
/// all groups.
fn openapi_documents(model: &Model, group: Option<&Group>) -> Vec<File> {
    let prefix = group.map(|group| match group.name.as_str() {
        "" => "api/".to_string(),
        name => format!("apis/{name}/"),
    });
    let mut out = Vec::new();
    if group.is_none() {
        out.push(File { path: "v2.json".into(), bytes: openapi::v2(model).to_string().into_bytes() });
    }
    for (path, document) in openapi::v3(model) {
        if prefix.as_ref().is_none_or(|prefix| path.starts_with(prefix)) {
            out.push(File { path: format!("v3/{path}.json"), bytes: document.to_string().into_bytes() });
        }
    }
    out
}
