//! Text form of diagnostics: header, place, source line with carets, related places, help.

use std::fmt::{self, Write};

use super::{Diagnostic, Diagnostics, Severity};
use crate::model::Span;

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render(self, f)
    }
}

fn render(diagnostics: &Diagnostics, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let sorted = diagnostics.sorted();
    for diagnostic in &sorted {
        one(diagnostics, diagnostic, f)?;
        f.write_char('\n')?;
    }
    let errors = sorted.iter().filter(|item| item.level == Severity::Error).count();
    match errors {
        0 => Ok(()),
        1 => writeln!(f, "error: 1 error in the definitions; its code is explained in docs/api-defs-errors.md"),
        _ => writeln!(
            f,
            "error: {errors} errors in the definitions; their codes are explained in docs/api-defs-errors.md"
        ),
    }
}

fn one(diagnostics: &Diagnostics, diagnostic: &Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let level = match diagnostic.level {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    writeln!(f, "{level}[{}]: {}", diagnostic.code, diagnostic.message)?;
    let lines = diagnostic.related.iter().map(|(span, _)| span.line).chain([diagnostic.span.line]);
    let width = lines.max().unwrap_or(0).to_string().len();
    snippet(diagnostics, &diagnostic.span, Snippet { arrow: "-->", mark: '^', label: None, width }, f)?;
    for (span, text) in &diagnostic.related {
        snippet(diagnostics, span, Snippet { arrow: ":::", mark: '-', label: Some(text), width }, f)?;
    }
    if !diagnostic.help.is_empty() && diagnostic.span.line > 0 {
        writeln!(f, "{:width$} |", "")?;
    }
    for help in &diagnostic.help {
        let indented = help.replace('\n', &format!("\n{:width$}         ", ""));
        writeln!(f, "{:width$} = help: {indented}", "")?;
    }
    Ok(())
}

struct Snippet<'a> {
    arrow: &'a str,
    mark: char,
    label: Option<&'a str>,
    width: usize,
}

/// Writes the place and its source line with carets under the token. A span without a line denotes a
/// whole file.
fn snippet(diagnostics: &Diagnostics, span: &Span, snippet: Snippet<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Snippet { arrow, mark, label, width } = snippet;
    let file = span.file.display().to_string().replace('\\', "/");
    if span.line == 0 {
        return writeln!(f, "{:width$}{arrow} {file}", "");
    }
    writeln!(f, "{:width$}{arrow} {file}:{}:{}", "", span.line, span.column)?;
    let Some(line) = diagnostics.source(&span.file).and_then(|text| text.lines().nth(span.line - 1)) else {
        return Ok(());
    };
    writeln!(f, "{:width$} |", "")?;
    writeln!(f, "{:width$} | {}", span.line, line.replace('\t', " ").trim_end())?;
    let marks: String = std::iter::repeat_n(mark, token_length(line, span.column)).collect();
    let label = label.map(|text| format!(" {text}")).unwrap_or_default();
    writeln!(f, "{:width$} | {:indent$}{marks}{label}", "", "", indent = span.column.saturating_sub(1))
}

/// Length in characters of the token at a 1-based column: a word, a number, a string, or a single
/// punctuation character.
fn token_length(line: &str, column: usize) -> usize {
    let rest: Vec<char> = line.chars().skip(column.saturating_sub(1)).collect();
    let word = |c: &char| c.is_alphanumeric() || *c == '_';
    match rest.first() {
        Some('"') => rest.iter().skip(1).position(|c| *c == '"').map_or(1, |end| end + 2),
        Some('-') => 1 + rest.iter().skip(1).take_while(|c| word(c)).count(),
        Some(first) if word(first) => path_length(&rest),
        _ => 1,
    }
}

/// Length of a path such as `core::v1::PodSpec` or `spec.stock`, which is marked as one token.
fn path_length(rest: &[char]) -> usize {
    let word = |index: usize| rest.get(index).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let mut end = 0;
    loop {
        while word(end) {
            end += 1;
        }
        let step = match (rest.get(end), rest.get(end + 1)) {
            (Some('.' | '#'), _) => 1,
            (Some(':'), Some(':')) => 2,
            _ => return end,
        };
        if !word(end + step) {
            return end;
        }
        end += step;
    }
}
