//! What strict decoding objects to: unknown and duplicate fields. They never fail a decoding by themselves; the caller turns them
//! into an error or into warnings (`fieldValidation`).

use super::path::Path;
use crate::budget::Meter;
use crate::limits::{MAX_DEPTH, MAX_STORED_DEPTH};
use crate::scalar::go_text::quote;

/// Upstream keeps no more than this many strict errors of one document.
const MOST: usize = 100;

/// Bytes of texts after which no more issues are looked for: the path of each may be as long as the document.
const MOST_BYTES: usize = 1 << 20;

/// Unknown and duplicate fields met while decoding.
///
/// They also say how strictly a document is bounded: see [`Issues::collect`] and [`Issues::ignore`].
#[derive(Debug)]
pub struct Issues {
    found: Option<Vec<Issue>>,
    /// Bytes of the texts that were made for issues, those that were not kept included.
    bytes: usize,
    /// Whether the limits of requests hold.
    is_limited: bool,
}

/// One objection of strict decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Issue {
    Unknown(Box<str>),
    Duplicate(Box<str>),
    /// An objection in words of its own, such as a duplicate YAML key.
    Text(Box<str>),
}

impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Issue::Unknown(path) => write!(f, "unknown field {}", quote(path)),
            Issue::Duplicate(path) => write!(f, "duplicate field {}", quote(path)),
            Issue::Text(text) => f.write_str(text),
        }
    }
}

impl Issues {
    /// For a document that a client sends: issues are collected, and the limits of requests hold ([`MAX_DEPTH`], memory).
    pub fn collect() -> Self {
        Issues { found: Some(Vec::new()), bytes: 0, is_limited: true }
    }

    /// For a document that a client sends and whose issues are not reported: only the limits of requests hold.
    pub fn only_limit() -> Self {
        Issues { found: None, bytes: 0, is_limited: true }
    }

    /// For a document that the server made or has stored: nothing is collected. Its depth may be [`MAX_STORED_DEPTH`].
    pub fn ignore() -> Self {
        Issues { found: None, bytes: 0, is_limited: false }
    }

    pub(crate) fn max_depth(&self) -> usize {
        if self.is_limited { MAX_DEPTH } else { MAX_STORED_DEPTH }
    }

    /// What counts the memory that a document of this many bytes takes.
    pub(crate) fn meter(&self, length: usize) -> Meter {
        if self.is_limited { Meter::of_document(length) } else { Meter::unlimited() }
    }

    /// Whether issues are reported.
    pub fn is_collecting(&self) -> bool {
        self.found.is_some()
    }

    /// What was found, in order of appearance.
    pub fn iter(&self) -> std::slice::Iter<'_, Issue> {
        self.found.as_deref().unwrap_or_default().iter()
    }

    pub fn is_empty(&self) -> bool {
        self.iter().len() == 0
    }

    /// Adds an objection unless it is known or the document has had enough of them.
    pub fn add(&mut self, issue: Issue) {
        if let Some(found) = &mut self.found
            && found.len() < MOST
            && !found.contains(&issue)
        {
            found.push(issue);
        }
    }

    /// Shows unknown fields as upstream's converter of maps does, and its pruning: between quotes, but not escaped.
    pub fn show_unknown_unescaped(&mut self) {
        for issue in self.found.iter_mut().flatten() {
            if let Issue::Unknown(path) = issue {
                *issue = Issue::Text(format!("unknown field \"{path}\"").into());
            }
        }
    }

    /// Drops what was found: a decoding that fails reports its error only.
    pub fn clear(&mut self) {
        if let Some(found) = &mut self.found {
            found.clear();
        }
        self.bytes = 0;
    }

    /// Makes the text of an issue and adds it, unless the document has had enough of them.
    fn add_text(&mut self, text: impl FnOnce() -> String, issue: fn(Box<str>) -> Issue) {
        let is_full = self.found.as_ref().is_none_or(|found| found.len() >= MOST) || self.bytes > MOST_BYTES;
        if !is_full {
            let text = text();
            self.bytes += text.len();
            self.add(issue(text.into()));
        }
    }

    #[cold]
    pub(crate) fn unknown(&mut self, path: &Path<'_>, field: &str) {
        self.add_text(|| path.child(field), Issue::Unknown);
    }

    #[cold]
    pub(crate) fn duplicate(&mut self, path: &Path<'_>, field: &str) {
        self.add_text(|| path.child(field), Issue::Duplicate);
    }
}

/// The text of upstream's `runtime.NewStrictDecodingError`; `None` when there is nothing to object to.
pub fn strict_error(issues: &Issues) -> Option<String> {
    if issues.is_empty() {
        return None;
    }
    let texts: Vec<String> = issues.iter().map(Issue::to_string).collect();
    Some(format!("strict decoding error: {}", texts.join(", ")))
}
