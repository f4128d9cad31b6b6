//! Files of `api-defs/`: finds and reads them, and converts token positions to [`Span`]s.

use std::path::{Path, PathBuf};

use proc_macro2::LineColumn;

use super::braces;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::Span;
use crate::project::Project;

/// A parsed `.rs` file.
pub struct SourceFile {
    /// Path relative to the project's root.
    pub path: PathBuf,
    pub syntax: syn::File,
}

/// A folder of `api-defs/` with its files, `group.rs` first.
pub struct Folder {
    pub name: String,
    /// Path relative to the project's root.
    pub path: PathBuf,
    pub files: Vec<SourceFile>,
}

/// The file that a token belongs to.
#[derive(Clone, Copy)]
pub struct FileScope<'a> {
    pub file: &'a Path,
}

impl FileScope<'_> {
    pub fn span(&self, span: proc_macro2::Span) -> Span {
        let LineColumn { line, column } = span.start();
        Span { file: self.file.to_path_buf(), line, column: column + 1 }
    }

    /// The span of the whole file.
    pub fn whole(&self) -> Span {
        Span { file: self.file.to_path_buf(), line: 0, column: 0 }
    }
}

/// Reads the definitions of a project, sorted by name.
pub fn read(project: &Project, diagnostics: &mut Diagnostics) -> Vec<Folder> {
    let root = &project.root;
    let entries = project.definitions().into_iter().flat_map(|top| list(root, &top, diagnostics)).collect::<Vec<_>>();
    let folders = entries.into_iter().filter(|path| root.join(path).is_dir());
    let mut folders: Vec<Folder> = folders.filter_map(|path| read_folder(root, path, diagnostics)).collect();
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    folders
}

fn read_folder(root: &Path, path: PathBuf, diagnostics: &mut Diagnostics) -> Option<Folder> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    if name.starts_with('.') {
        return None;
    }
    let mut paths: Vec<PathBuf> = list(root, &path, diagnostics);
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort_by_key(|path| (!path.ends_with("group.rs"), path.clone()));
    if paths.is_empty() {
        return None;
    }
    let files = paths.into_iter().filter_map(|path| read_file(root, path, diagnostics)).collect();
    Some(Folder { name, path, files })
}

/// Sorted entries of a directory, relative to `root`.
fn list(root: &Path, directory: &Path, diagnostics: &mut Diagnostics) -> Vec<PathBuf> {
    match std::fs::read_dir(root.join(directory)) {
        Ok(entries) => {
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| directory.join(entry.file_name())).collect();
            paths.sort();
            paths
        }
        Err(error) => {
            let span = FileScope { file: directory }.whole();
            diagnostics.push(Diagnostic::error(codes::SYNTAX, &span, format!("cannot read this directory: {error}")));
            Vec::new()
        }
    }
}

fn read_file(root: &Path, path: PathBuf, diagnostics: &mut Diagnostics) -> Option<SourceFile> {
    let scope = FileScope { file: &path };
    let text = match std::fs::read_to_string(root.join(&path)) {
        Ok(text) => text,
        Err(error) => {
            diagnostics.push(Diagnostic::error(
                codes::SYNTAX,
                &scope.whole(),
                format!("cannot read this file: {error}"),
            ));
            return None;
        }
    };
    let parsed = syn::parse_file(&text);
    let diagnostic = parsed.as_ref().err().map(|error| match braces::unclosed(&text) {
        Some((line, column)) => {
            let span = Span { file: path.clone(), line, column };
            Diagnostic::error(codes::SYNTAX, &span, "this brace is not closed")
        }
        None => {
            Diagnostic::error(codes::SYNTAX, &scope.span(error.span()), format!("this is not Rust syntax: {error}"))
        }
    });
    diagnostics.extend(diagnostic);
    diagnostics.add_source(&path, text);
    parsed.ok().map(|syntax| SourceFile { path, syntax })
}
