//! What strict decoding objects to: unknown and duplicate fields. They never fail a decoding by themselves; the caller turns them
//! into an error or into warnings (`fieldValidation`).

use super::path::Path;
use crate::scalar::go_text::quote;

/// Upstream keeps no more than this many strict errors of one document.
const MOST: usize = 100;

/// Unknown and duplicate fields met while decoding.
#[derive(Debug, Default)]
pub struct Issues {
    found: Option<Vec<Issue>>,
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
    /// Keeps what it is told.
    pub fn collect() -> Self {
        Issues { found: Some(Vec::new()) }
    }

    /// Looks for nothing (`fieldValidation=Ignore`).
    pub fn ignore() -> Self {
        Issues { found: None }
    }

    /// Whether anybody wants to know.
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

    /// Drops what was found: a decoding that fails reports its error only.
    pub fn clear(&mut self) {
        if let Some(found) = &mut self.found {
            found.clear();
        }
    }

    #[cold]
    pub(crate) fn unknown(&mut self, path: &Path<'_>, field: &str) {
        if self.is_collecting() {
            self.add(Issue::Unknown(path.child(field).into()));
        }
    }

    #[cold]
    pub(crate) fn duplicate(&mut self, path: &Path<'_>, field: &str) {
        if self.is_collecting() {
            self.add(Issue::Duplicate(path.child(field).into()));
        }
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
