//! The ledger: records what each group has published, one file per group in `generated/ledger/`.
//!
//! A build compares the definitions with the ledger, reports every breaking change at its declaration,
//! and records additions. The ledger is outside of `api-defs/`, because the build script watches that
//! folder and would otherwise run again after its own write. `docs/ledger.md` describes the grammar of
//! the file and how to declare an intended break.

mod compare;
mod limits;
mod surface;
mod text;

use std::path::{Path, PathBuf};

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::{Model, Span};
use crate::parse::Origins;
use crate::project::Project;

/// Folder of the ledger below the workspace root.
const FOLDER: &str = "generated/ledger";

/// A ledger file as it has to be.
#[derive(Clone, Debug)]
pub struct LedgerFile {
    /// Relative to the workspace root.
    pub path: PathBuf,
    /// Content of the file.
    pub text: String,
    /// The file in the repository differs or does not exist.
    pub stale: bool,
}

/// Compares every group that the project declares with its ledger.
///
/// Returns the ledger as it has to be after this build.
pub fn compare(project: &Project, model: &Model, origins: &Origins, diagnostics: &mut Diagnostics) -> Vec<LedgerFile> {
    let root = &project.root;
    let mut files = Vec::new();
    for group in model.groups.iter().filter(|group| project.declares(group)) {
        let Some(folder) = group.span.file.parent().and_then(Path::file_name) else { continue };
        let path = Path::new(FOLDER).join(format!("{}.txt", folder.to_string_lossy()));
        let before = std::fs::read_to_string(root.join(&path)).ok();
        let published = text::read(&path, before.as_deref().unwrap_or_default(), diagnostics);
        let now = surface::of(model, group, origins);
        let is_whole = before.as_deref().is_none_or(text::is_whole);
        let next = compare::group(&published, is_whole, &now, origins, &path, diagnostics);
        let text = text::write(&group.name, &next);
        files.push(LedgerFile { stale: before.as_deref() != Some(text.as_str()), path, text });
    }
    orphans(root, &files, diagnostics);
    files
}

/// Reports ledgers of groups that no longer exist.
fn orphans(root: &Path, files: &[LedgerFile], diagnostics: &mut Diagnostics) {
    let entries = std::fs::read_dir(root.join(FOLDER)).into_iter().flatten().flatten();
    let paths = entries.map(|entry| Path::new(FOLDER).join(entry.file_name()));
    let texts = paths.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    for path in texts.filter(|path| !files.iter().any(|file| file.path == *path)) {
        let span = Span { file: path.clone(), line: 0, column: 0 };
        let diagnostic = Diagnostic::error(codes::GONE_TYPE, &span, "the group of this ledger no longer exists");
        diagnostics.push(diagnostic.help(format!("if that is intended, delete `{}` too", path.display())));
    }
}

/// Writes the files that differ. With `check`, writes nothing.
///
/// # Errors
/// A diagnostic for each file that cannot be written, or, with `check`, for each file that differs.
pub fn settle(root: &Path, files: &[LedgerFile], check: bool) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    for file in files.iter().filter(|file| file.stale) {
        let span = Span { file: file.path.clone(), line: 0, column: 0 };
        if check {
            let message = "the ledger differs from the definitions";
            let help = "run `cargo build` without CI set, and commit what it writes";
            diagnostics.push(Diagnostic::error(codes::LEDGER_STALE, &span, message).help(help));
        } else if let Err(error) = write(&root.join(&file.path), &file.text) {
            diagnostics.push(Diagnostic::error(
                codes::LEDGER_SYNTAX,
                &span,
                format!("cannot write this file: {error}"),
            ));
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Writes to a temporary file and renames it, because the build scripts of two packages may run at the
/// same time.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&temporary, text)?;
    std::fs::rename(&temporary, path)
}
