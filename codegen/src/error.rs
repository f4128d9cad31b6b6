//! The error of this crate.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostics::Diagnostics;

/// Why definitions cannot be read, written, imported or exported.
///
/// Checks of definitions report [`Diagnostics`], because one run finds several mistakes.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The definitions have mistakes.
    #[error(transparent)]
    Definitions(#[from] Diagnostics),
    /// Another command line than a program expects.
    #[error("{0}")]
    Usage(&'static str),

    /// An input that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file; `-` is standard input.
        path: PathBuf,
        /// What the operating system reports.
        source: io::Error,
    },
    /// A file or folder that cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system reports.
        source: io::Error,
    },
    /// A folder that cannot be created.
    #[error("cannot make {}: {source}", path.display())]
    CreateFolder {
        /// The folder.
        path: PathBuf,
        /// What the operating system reports.
        source: io::Error,
    },
    /// A file that an import would replace.
    #[error("{} exists already; nothing is written", .0.display())]
    Exists(PathBuf),

    /// A generated package that cannot be read.
    #[error("error: cannot read {}: {source}", target.display())]
    ReadGenerated {
        /// The folder of the package.
        target: PathBuf,
        /// What the operating system reports.
        source: io::Error,
    },
    /// A generated package that cannot be written.
    #[error("error: cannot write {}: {source}", target.display())]
    WriteGenerated {
        /// The folder of the package.
        target: PathBuf,
        /// What the operating system reports.
        source: io::Error,
    },
    /// Generated files that differ from the definitions, in a build that writes nothing.
    #[error("{}", stale_files(.0))]
    Stale(Vec<PathBuf>),
    /// A group of Kubernetes that its package does not include yet.
    #[error(
        "error: the group `{0}` was added after the package that includes it was built\n  = help: run `touch build.rs` and build again"
    )]
    NewGroup(String),

    /// A path of fields without any name.
    #[error("the path is empty")]
    EmptyPath,
    /// A path that continues below a field which has no fields.
    #[error("`{field}` has no fields, so nothing is called `{name}` below it")]
    NoFields {
        /// The field.
        field: String,
        /// The name below it.
        name: String,
    },
    /// A path with a field that the struct lacks.
    #[error("`{of}` has no field `{name}`{}", near.as_ref().map_or(String::new(), |near| format!(" in JSON; did you mean `{near}`?")))]
    NoField {
        /// The struct.
        of: String,
        /// The missing field.
        name: String,
        /// A field of the struct with a similar name.
        near: Option<String>,
    },
    /// A path from a struct of another model.
    #[error("`{0}` is not part of the model")]
    ForeignStruct(String),

    /// No format of exports has the name.
    #[error("unknown format `{0}`; formats are crd, proto, openapi, markdown, rust, go and typescript")]
    UnknownFormat(String),
    /// No group has the name.
    #[error("no group `{name}`{}", near.as_ref().map_or(String::new(), |near| format!("; did you mean `{near}`?")))]
    UnknownGroup {
        /// The name or folder that was given.
        name: String,
        /// The folder of a group with a similar name.
        near: Option<String>,
    },
    /// The core group as CustomResourceDefinitions.
    #[error("the core group has no name, and a CustomResourceDefinition needs one")]
    CoreGroup,
    /// A group without a kind that can be a custom resource; the text is the folder of the group.
    #[error("group `{0}` has no kind that could be a custom resource")]
    NoKinds(String),
    /// An export of all custom groups, of which there are none.
    #[error("all groups are Kubernetes' own; name one with --group")]
    NoCustomGroups,
    /// Types for clients of a group that a library of Kubernetes has.
    #[error("`{group}` is a group of Kubernetes: {library} has its types")]
    InLibrary {
        /// The folder of the group.
        group: String,
        /// The library for the language.
        library: &'static str,
    },
    /// Go packages that import each other from an unknown path.
    #[error("{here} uses types of {other}: `--module PATH` is required, the path of the exported packages")]
    NoModule {
        /// The group version.
        here: String,
        /// Another group version of the export.
        other: String,
    },

    /// A document that is not YAML.
    #[error(transparent)]
    Yaml(#[from] machinery::json::Error),
    /// A document that is not JSON after its conversion.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// An error in a document of an import.
    #[error("document {number}: {source}")]
    Document {
        /// The position of the document in the text, from 1.
        number: usize,
        /// The problem.
        source: Box<Error>,
    },
    /// A text without any definition to import.
    #[error("the input has no CustomResourceDefinition of apiextensions.k8s.io/v1")]
    NoDefinitions,
    /// A CustomResourceDefinition that occurs twice.
    #[error("{0} is defined twice")]
    Twice(String),
    /// A CustomResourceDefinition without a required part.
    #[error("{definition}: {part} is missing")]
    MissingPart {
        /// The name of the definition.
        definition: String,
        /// The missing part.
        part: &'static str,
    },
    /// A CustomResourceDefinition whose versions all have names that the language lacks.
    #[error("{0}: no version is left")]
    NoVersions(String),
    /// A CustomResourceDefinition that lacks the version in which its group is declared.
    #[error("{definition}: has no version {version}")]
    NoVersion {
        /// The name of the definition.
        definition: String,
        /// The version.
        version: String,
    },
    /// A group whose kinds have no version in common.
    #[error("group {0}: no version has all of its kinds; import the definitions of each version apart")]
    NoCommonVersion(String),
    /// A kind that the imported definitions do not export again.
    #[error("{0}: the definitions export no such kind")]
    NotExported(String),
    /// Imported definitions with mistakes that a removal of their optional parts does not correct.
    #[error("the definitions cannot be repaired:\n{0}")]
    Unrepairable(#[source] Diagnostics),
    /// Imported definitions with mistakes after the maximum number of repairs.
    #[error("the definitions cannot be repaired in the maximum number of rounds")]
    TooManyRepairs,
}

impl Error {
    /// Makes the error of a file or folder that cannot be written.
    pub fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Error::Write { path: path.into(), source }
    }
}

/// The report of generated files that differ from the definitions.
fn stale_files(paths: &[PathBuf]) -> String {
    const MAX_SHOWN: usize = 20;
    let mut text = String::from("error: generated files differ from the definitions in api-defs/:\n");
    for path in paths.iter().take(MAX_SHOWN) {
        let _ = writeln!(text, "  {}", path.display());
    }
    text.push_str("  = help: run `cargo build` without CI set, and commit what it writes\n");
    text
}
