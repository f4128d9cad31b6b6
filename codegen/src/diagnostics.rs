//! Errors and warnings about definitions, rendered as rustc renders them and sorted by place.
//!
//! This module does not know what a definition is. A check creates a [`Diagnostic`] with one of the
//! [`codes`] and pushes it onto a [`Diagnostics`]. The run continues after an error, so that one build
//! reports all errors.

pub mod codes;
mod render;
mod suggest;

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

pub use codes::Code;
pub use suggest::{did_you_mean, list_words};

use crate::model::Span;

/// Severity: an error fails the build, a warning does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The build fails.
    Error,
    /// The build succeeds.
    Warning,
}

/// One error or warning: its place, its message, and what to write instead.
///
/// Boxed, because many `Result`s have it as their error type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic(Box<Content>);

/// Contents of a [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Severity.
    pub level: Severity,
    /// Code, such as `A012`.
    pub code: Code,
    /// One clause without a full stop, such as `protobuf number 4 is used twice`.
    pub message: String,
    /// Place of the error; line 0 is the whole file.
    pub span: Span,
    /// Related places: `first used here`.
    pub related: Vec<(Span, String)>,
    /// What to write instead, one `= help:` line each.
    pub help: Vec<String>,
}

impl Deref for Diagnostic {
    type Target = Content;

    fn deref(&self) -> &Content {
        &self.0
    }
}

impl DerefMut for Diagnostic {
    fn deref_mut(&mut self) -> &mut Content {
        &mut self.0
    }
}

impl Diagnostic {
    pub(crate) fn error(code: Code, span: &Span, message: impl Into<String>) -> Self {
        let (level, span, message) = (Severity::Error, span.clone(), message.into());
        Self(Box::new(Content { level, code, message, span, related: Vec::new(), help: Vec::new() }))
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds "did you mean `x`?" if a candidate is close to `word`, otherwise the list of allowed words.
    pub(crate) fn suggest<'a>(self, word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        let candidates: Vec<&str> = candidates.into_iter().collect();
        match did_you_mean(word, &candidates) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None if candidates.is_empty() => self,
            None => self.help(format!("allowed here: {}", list_words(&candidates))),
        }
    }

    pub(crate) fn also(mut self, span: &Span, text: impl Into<String>) -> Self {
        self.related.push((span.clone(), text.into()));
        self
    }
}

/// All diagnostics of one run, with the source texts for snippets.
///
/// `Display` renders them sorted, as rustc renders its own.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
    sources: BTreeMap<PathBuf, String>,
}

impl Diagnostics {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.items.push(diagnostic);
    }

    pub(crate) fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.items.extend(diagnostics);
    }

    /// Keeps the text of a file, under its path relative to the workspace root.
    pub(crate) fn add_source(&mut self, path: &Path, text: String) {
        self.sources.insert(path.to_path_buf(), text);
    }

    /// The text of a file stored with [`Self::add_source`].
    pub(crate) fn source(&self, path: &Path) -> Option<&str> {
        self.sources.get(path).map(String::as_str)
    }

    /// Whether a diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|item| item.level == Severity::Error)
    }

    /// The number of errors and warnings, duplicates included.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are neither errors nor warnings.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The diagnostics in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.items.iter()
    }

    /// Diagnostics sorted by place, without duplicates.
    ///
    /// A declaration that several versions share is checked in each version, and the help texts may
    /// differ.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut items: Vec<&Diagnostic> = self.items.iter().collect();
        items.sort_by(|a, b| (&a.span, a.code, &a.message).cmp(&(&b.span, b.code, &b.message)));
        items.dedup_by(|a, b| (&a.span, a.code, &a.message) == (&b.span, b.code, &b.message));
        items
    }
}

impl std::error::Error for Diagnostics {}
