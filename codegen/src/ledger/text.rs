//! The ledger's text: one fact per line, sorted.
//!
//! ```text
//! v1 enum OnShortage
//! v1 field ProductSpec.stock 1 i32 optional default=1
//! v1 gone ProductSpec.colour 7
//! v1 kind Product products Namespaced scale status
//! v1 struct ProductSpec
//! v1 value OnShortage "Backorder"
//! v1 break C002 ProductSpec.colour Nobody painted anything.
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::Span;

/// Version, word and subject, such as `v1 field ProductSpec.stock`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub version: String,
    pub word: Word,
    pub subject: String,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    Kind,
    Struct,
    Field,
    Enum,
    Value,
    /// A field that is no longer there, and whose number and name stay taken.
    Gone,
    /// A break that was meant; the subject starts with its code.
    Break,
}

const WORDS: &[(Word, &str)] = &[
    (Word::Kind, "kind"),
    (Word::Struct, "struct"),
    (Word::Field, "field"),
    (Word::Enum, "enum"),
    (Word::Value, "value"),
    (Word::Gone, "gone"),
    (Word::Break, "break"),
];

impl Word {
    fn text(self) -> &'static str {
        WORDS.iter().find(|(word, _)| *word == self).map_or("", |(_, text)| text)
    }
}

impl Key {
    pub fn new(version: &str, word: Word, subject: impl Into<String>) -> Self {
        Self { version: version.to_string(), word, subject: subject.into() }
    }

    /// The type of a field or a value, the subject itself otherwise.
    pub fn owner(&self) -> &str {
        self.subject.split(['.', ' ']).next().unwrap_or_default()
    }

    /// The field of `Struct.field`.
    pub fn member(&self) -> &str {
        self.subject.split_once('.').map_or("", |(_, member)| member)
    }

    pub fn line(&self, rest: &str) -> String {
        let line = format!("{} {} {} {rest}", self.version, self.word.text(), self.subject);
        line.trim_end().to_string()
    }
}

/// Facts of one group: key -> the rest of the line.
pub type Facts = BTreeMap<Key, String>;

/// Reads a ledger; lines that are none are reported.
pub fn read(path: &Path, text: &str, diagnostics: &mut Diagnostics) -> Facts {
    let mut facts = Facts::new();
    let mut broken = false;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        match parse(line) {
            Some((key, rest)) => drop(facts.insert(key, rest)),
            None => {
                let span = Span { file: path.to_path_buf(), line: index + 1, column: 1 };
                let diagnostic = Diagnostic::error(codes::LEDGER_SYNTAX, &span, "this line of the ledger says nothing");
                diagnostics
                    .push(diagnostic.help("a merge gone wrong? delete the line, and the build writes what is missing"));
                broken = true;
            }
        }
    }
    if broken {
        diagnostics.add_source(path, text.to_string());
    }
    facts
}

fn parse(line: &str) -> Option<(Key, String)> {
    let (version, rest) = line.split_once(' ')?;
    let (word, rest) = rest.split_once(' ')?;
    let (word, _) = WORDS.iter().find(|(_, text)| *text == word)?;
    crate::names::version_rank(version)?;
    let (subject, rest) = match word {
        Word::Value => (rest, ""),
        Word::Break => {
            let (code, rest) = rest.split_once(' ')?;
            let (subject, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            return Some((Key::new(version, *word, format!("{code} {subject}")), reason.to_string()));
        }
        _ => rest.split_once(' ').unwrap_or((rest, "")),
    };
    let field = matches!(word, Word::Field | Word::Gone);
    (!field || (subject.contains('.') && !rest.is_empty()))
        .then(|| (Key::new(version, *word, subject), rest.to_string()))
}

/// The ledger of a group.
pub fn write(group: &str, facts: &Facts) -> String {
    let name = if group.is_empty() { "the core group" } else { group };
    let mut lines: Vec<String> = facts.iter().map(|(key, rest)| key.line(rest)).collect();
    lines.sort();
    format!(
        "# What {name} has published. Written by the build, kept in the repository; see docs/ledger.md.\n{}\n",
        lines.join("\n")
    )
}
