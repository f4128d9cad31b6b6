//! Issues of strict decoding: unknown and duplicate fields.
//!
//! They do not fail the decoding. The caller turns them into an error or into warnings
//! (`fieldValidation`).

use super::path::ValuePath;
use crate::budget::Meter;
use crate::limits::{MAX_DEPTH, MAX_STORED_DEPTH};
use crate::scalar::go_text::quote;

/// Limit on the strict errors of one document, as upstream.
const MAX_ISSUES: usize = 100;

/// Limit on the bytes of issue texts: the path of each may be as long as the document.
const MAX_ISSUE_BYTES: usize = 1 << 20;

/// Unknown and duplicate fields that decoding found.
///
/// They also determine the limits of a document: see [`Issues::collect`] and [`Issues::ignore`].
#[derive(Debug)]
pub struct Issues {
    found: Option<Vec<Issue>>,
    /// Bytes of the texts of all issues, including those that were not kept.
    bytes: usize,
    /// Whether the limits of requests apply.
    is_limited: bool,
}

/// An issue of strict decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Issue {
    /// An unknown field, by its path.
    Unknown(Box<str>),
    /// A field that occurs twice, by its path.
    Duplicate(Box<str>),
    /// An issue with its own text, such as a duplicate YAML key.
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
    /// For a document of a client: issues are collected, and the limits of requests apply
    /// ([`MAX_DEPTH`], memory).
    pub fn collect() -> Self {
        Issues { found: Some(Vec::new()), bytes: 0, is_limited: true }
    }

    /// For a document of a client without strict decoding: only the limits of requests apply.
    pub fn only_limit() -> Self {
        Issues { found: None, bytes: 0, is_limited: true }
    }

    /// For a document of the server, or a stored one: nothing is collected. Its depth may be
    /// [`MAX_STORED_DEPTH`].
    pub fn ignore() -> Self {
        Issues { found: None, bytes: 0, is_limited: false }
    }

    pub(crate) fn max_depth(&self) -> usize {
        if self.is_limited { MAX_DEPTH } else { MAX_STORED_DEPTH }
    }

    /// The memory meter for a document of this many bytes.
    pub(crate) fn meter(&self, length: usize) -> Meter {
        if self.is_limited { Meter::of_document(length) } else { Meter::unlimited() }
    }

    /// Whether issues are collected.
    pub fn is_collecting(&self) -> bool {
        self.found.is_some()
    }

    /// The issues in order of appearance.
    pub fn iter(&self) -> std::slice::Iter<'_, Issue> {
        self.found.as_deref().unwrap_or_default().iter()
    }

    /// Whether there are no issues.
    pub fn is_empty(&self) -> bool {
        self.iter().len() == 0
    }

    /// Adds an issue, unless it is a duplicate or the limits are reached.
    pub fn add(&mut self, issue: Issue) {
        if let Some(found) = &mut self.found
            && found.len() < MAX_ISSUES
            && !found.contains(&issue)
        {
            found.push(issue);
        }
    }

    /// Shows unknown fields between quotes without escapes, as upstream's converter of maps and its
    /// pruning do.
    pub fn show_unknown_unescaped(&mut self) {
        for issue in self.found.iter_mut().flatten() {
            if let Issue::Unknown(path) = issue {
                *issue = Issue::Text(format!("unknown field \"{path}\"").into());
            }
        }
    }

    /// Drops the issues: a failed decoding reports only its error.
    pub fn clear(&mut self) {
        if let Some(found) = &mut self.found {
            found.clear();
        }
        self.bytes = 0;
    }

    /// Formats an issue and adds it, unless the limits are reached.
    fn add_text(&mut self, text: impl FnOnce() -> String, issue: fn(Box<str>) -> Issue) {
        let is_full = self.found.as_ref().is_none_or(|found| found.len() >= MAX_ISSUES) || self.bytes > MAX_ISSUE_BYTES;
        if !is_full {
            let text = text();
            self.bytes += text.len();
            self.add(issue(text.into()));
        }
    }

    #[cold]
    pub(crate) fn unknown(&mut self, path: &ValuePath<'_>, field: &str) {
        self.add_text(|| path.child(field), Issue::Unknown);
    }

    #[cold]
    pub(crate) fn duplicate(&mut self, path: &ValuePath<'_>, field: &str) {
        self.add_text(|| path.child(field), Issue::Duplicate);
    }
}

/// The text of upstream's `runtime.NewStrictDecodingError`; `None` without issues.
pub fn strict_error(issues: &Issues) -> Option<String> {
    if issues.is_empty() {
        return None;
    }
    let texts: Vec<String> = issues.iter().map(Issue::to_string).collect();
    Some(format!("strict decoding error: {}", texts.join(", ")))
}
