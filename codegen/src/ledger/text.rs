//! Reads and writes the text of a ledger: one fact per line, sorted.
//!
//! ```text
//! v1 column Product "Price"
//! v1 enum OnShortage
//! v1 field ProductSpec.stock 1 i32 optional default=1
//! v1 gone ProductSpec.colour 7
//! v1 kind Product products Namespaced scale status
//! v1 limit ProductSpec.stock min 0
//! v1 rule ProductSpec "self.stock < 100"
//! v1 selectable Product spec.colour
//! v1 short_name Product prod
//! v1 struct ProductSpec
//! v1 union Payment card,cash exactly_one
//! v1 value OnShortage "Backorder"
//! v1 break C002 ProductSpec.colour The field was never set.
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::Span;

/// Key of a fact: version, word and subject, such as `v1 field ProductSpec.stock`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactKey {
    pub version: String,
    pub word: Word,
    pub subject: String,
}

/// The type of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    Kind,
    Struct,
    Field,
    Enum,
    Value,
    /// A constraint of a field: `ProductSpec.stock min`.
    Limit,
    /// A rule of a struct in CEL: `ProductSpec "self.stock < 100"`.
    Rule,
    /// Members of a union, of which at most or exactly one may be set: `Payment card,cash`.
    Union,
    Column,
    Selectable,
    ShortName,
    /// A removed field; its number and name remain reserved.
    Gone,
    /// An intended break; the subject starts with its code.
    Break,
}

const WORDS: &[(Word, &str)] = &[
    (Word::Kind, "kind"),
    (Word::Struct, "struct"),
    (Word::Field, "field"),
    (Word::Enum, "enum"),
    (Word::Value, "value"),
    (Word::Limit, "limit"),
    (Word::Rule, "rule"),
    (Word::Union, "union"),
    (Word::Column, "column"),
    (Word::Selectable, "selectable"),
    (Word::ShortName, "short_name"),
    (Word::Gone, "gone"),
    (Word::Break, "break"),
];

impl Word {
    fn text(self) -> &'static str {
        WORDS.iter().find(|(word, _)| *word == self).map_or("", |(_, text)| text)
    }
}

impl FactKey {
    pub fn new(version: &str, word: Word, subject: impl Into<String>) -> Self {
        Self { version: version.to_string(), word, subject: subject.into() }
    }

    /// The type of a field or a value; otherwise the subject itself.
    pub fn owner(&self) -> &str {
        self.subject.split(['.', ' ']).next().unwrap_or_default()
    }

    /// The field of `Struct.field`.
    pub fn member(&self) -> &str {
        self.subject.split_once('.').map_or("", |(_, member)| member)
    }

    /// The text after the first word of the subject: the constraint of a field, the value of an enum.
    pub fn detail(&self) -> &str {
        self.subject.split_once(' ').map_or("", |(_, detail)| detail)
    }

    pub fn line(&self, rest: &str) -> String {
        let line = format!("{} {} {} {rest}", self.version, self.word.text(), self.subject);
        line.trim_end().to_string()
    }
}

/// Facts of one group, with the rest of the line.
pub type GroupFacts = BTreeMap<FactKey, String>;

/// Marker in the first line of a ledger that records constraints, columns, selectable fields and short
/// names. Older ledgers do not record them: without the marker none of them counts as new or lost.
const FORMAT: &str = "(format 2)";

/// Whether a ledger records constraints, columns, selectable fields and short names.
pub fn is_whole(text: &str) -> bool {
    text.lines().next().is_none_or(|head| head.contains(FORMAT))
}

/// Reads a ledger; invalid lines are reported.
pub fn read(path: &Path, text: &str, diagnostics: &mut Diagnostics) -> GroupFacts {
    let mut facts = GroupFacts::new();
    let mut broken = false;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        match parse(line) {
            Some((key, rest)) => drop(facts.insert(key, rest)),
            None => {
                let span = Span { file: path.to_path_buf(), line: index + 1, column: 1 };
                let diagnostic =
                    Diagnostic::error(codes::LEDGER_SYNTAX, &span, "this line of the ledger is not a fact");
                diagnostics
                    .push(diagnostic.help("if a merge went wrong, delete the line; the build writes missing lines"));
                broken = true;
            }
        }
    }
    if broken {
        diagnostics.add_source(path, text.to_string());
    }
    facts
}

fn parse(line: &str) -> Option<(FactKey, String)> {
    let (version, rest) = line.split_once(' ')?;
    let (word, rest) = rest.split_once(' ')?;
    let (word, _) = WORDS.iter().find(|(_, text)| *text == word)?;
    crate::names::version_rank(version)?;
    let (subject, rest) = match word {
        Word::Value | Word::Rule | Word::Column | Word::Selectable | Word::ShortName => (rest, ""),
        Word::Limit | Word::Union => split_after(rest, 2),
        Word::Break => {
            let (_, behind_code) = rest.split_once(' ')?;
            let (_, behind_name) = behind_code.split_once(' ').unwrap_or((behind_code, ""));
            match behind_name.strip_prefix('"').and_then(|value| value.split_once("\" ")) {
                Some((_, reason)) => (&rest[..rest.len() - reason.len() - 1], reason),
                None => split_after(rest, 2),
            }
        }
        _ => split_after(rest, 1),
    };
    let field = matches!(word, Word::Field | Word::Gone);
    (!field || (subject.contains('.') && !rest.is_empty()))
        .then(|| (FactKey::new(version, *word, subject), rest.to_string()))
}

/// Splits a text after the given number of words.
fn split_after(text: &str, words: usize) -> (&str, &str) {
    match text.match_indices(' ').nth(words - 1) {
        Some((at, _)) => (&text[..at], &text[at + 1..]),
        None => (text, ""),
    }
}

/// A text in quotes, on one line.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// The text of a group's ledger.
pub fn write(group: &str, facts: &GroupFacts) -> String {
    let name = if group.is_empty() { "the core group" } else { group };
    let mut lines: Vec<String> = facts.iter().map(|(key, rest)| key.line(rest)).collect();
    lines.sort();
    format!(
        "# What {name} has published {FORMAT}. Written by the build, kept in the repository; see docs/ledger.md.\n{}\n",
        lines.join("\n")
    )
}
