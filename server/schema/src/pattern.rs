//! Regular expressions of `pattern`, and their syntax errors in the words of Go's
//! `regexp/syntax.Error`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use regex::Regex;
use regex_syntax::ast::{Ast, ErrorKind, RepetitionKind, RepetitionRange, Span};

/// A regular expression, compiled at its first use.
///
/// A compiled expression takes tens of kilobytes. Definitions repeat the same few expressions
/// (names, durations, reasons of conditions), so equal expressions share one compiled form.
#[derive(Debug)]
pub struct Pattern {
    pub text: Box<str>,
    compiled: OnceLock<Option<Arc<Regex>>>,
}

impl Pattern {
    /// Go's syntax equals the syntax of the `regex` crate except for rare character classes.
    pub fn new(text: &str) -> Self {
        Pattern { text: text.into(), compiled: OnceLock::new() }
    }

    /// Whether the expression matches anywhere in a text. An expression that does not compile
    /// matches nothing.
    pub fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| shared(&self.text));
        compiled.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

/// The compiled form of an expression, shared by all patterns of the same text. `None` when it does
/// not compile.
fn shared(text: &str) -> Option<Arc<Regex>> {
    static KNOWN: OnceLock<Mutex<HashMap<Box<str>, Weak<Regex>>>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = known.get(text).and_then(Weak::upgrade) {
        return Some(regex);
    }
    if known.len() == known.capacity() {
        known.retain(|_, regex| regex.strong_count() > 0);
    }
    let regex = Arc::new(Regex::new(text).ok()?);
    known.insert(text.into(), Arc::downgrade(&regex));
    Some(regex)
}

/// Length in bytes of the longest match below which an expression certainly compiles.
///
/// Each byte of a match takes at most some kilobytes of the compiled form (a class such as `\pL`);
/// the limit of the crate is ten megabytes.
const SHORT_MATCH: usize = 256;
/// Limit of the product of nested counted repetitions (`regexp/syntax.repeatIsValid`).
const MAX_REPEAT: u32 = 1000;

/// The largest product of nested counted repetitions in an expression, or the place where it
/// exceeds the limit.
fn repeat_product(of: &Ast) -> Result<u32, Span> {
    let most = |all: &[Ast]| {
        all.iter().try_fold(1, |most, one| repeat_product(one).map(|repeat_product| repeat_product.max(most)))
    };
    match of {
        Ast::Group(group) => repeat_product(&group.ast),
        Ast::Alternation(either) => most(&either.asts),
        Ast::Concat(all) => most(&all.asts),
        Ast::Repetition(repetition) => {
            let times = match &repetition.op.kind {
                RepetitionKind::Range(
                    RepetitionRange::Exactly(n) | RepetitionRange::AtLeast(n) | RepetitionRange::Bounded(_, n),
                ) => (*n).max(1),
                _ => 1,
            };
            let all = repeat_product(&repetition.ast)?.saturating_mul(times);
            if all > MAX_REPEAT { Err(repetition.op.span) } else { Ok(all) }
        }
        _ => Ok(1),
    }
}

/// Whether an expression compiles.
///
/// Compilation is slow, so it runs only where counted repetitions can make the compiled form large.
fn compiles(pattern: &str) -> bool {
    let Ok(parsed) = regex_syntax::parse(pattern) else { return false };
    let is_short = parsed.properties().maximum_len().is_some_and(|longest| longest <= SHORT_MATCH);
    is_short || !pattern.contains('{') || shared(pattern).is_some()
}

/// The error of an expression that does not compile.
pub fn syntax_error(pattern: &str) -> Option<String> {
    let error = match regex_syntax::ast::parse::Parser::new().parse(pattern) {
        Ok(parsed) => {
            return match repeat_product(&parsed) {
                Err(at) => Some(message("invalid repeat count", &pattern[at.start.offset..at.end.offset])),
                Ok(_) => (!compiles(pattern)).then(|| message("expression nests too deeply", pattern)),
            };
        }
        Err(error) => error,
    };
    let (start, end) = (error.span().start.offset, error.span().end.offset);
    let from = |at: usize| pattern.get(at..).unwrap_or(pattern);
    let part = pattern.get(start..end).filter(|part| !part.is_empty()).unwrap_or(pattern);
    Some(match error.kind() {
        ErrorKind::GroupUnclosed => message("missing closing )", pattern),
        ErrorKind::GroupUnopened => message("unexpected )", pattern),
        ErrorKind::ClassUnclosed => message("missing closing ]", from(start)),
        ErrorKind::ClassRangeInvalid => message("invalid character class range", part),
        ErrorKind::EscapeUnexpectedEof => message("trailing backslash at end of expression", ""),
        ErrorKind::EscapeUnrecognized => message("invalid escape sequence", part),
        ErrorKind::RepetitionMissing => message("missing argument to repetition operator", part),
        ErrorKind::RepetitionCountInvalid => message("invalid repeat count", part),
        ErrorKind::UnsupportedLookAround => {
            message("invalid or unsupported Perl syntax", pattern.get(start..end.max(start + 3)).unwrap_or(part))
        }
        ErrorKind::GroupNameInvalid | ErrorKind::GroupNameEmpty => message("invalid named capture", from(start)),
        _ => message("invalid or unsupported Perl syntax", part),
    })
}

fn message(what: &str, part: &str) -> String {
    format!("error parsing regexp: {what}: `{part}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_invalid_patterns_without_compiling_all_of_them() {
        let check =
            |pattern: &str, expect: Option<&str>| assert_eq!(syntax_error(pattern).as_deref(), expect, "{pattern}");
        check(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", None);
        check(r"^\p{L}+/.*$", None);
        check("a{2,}", None);
        check("a(b", Some("error parsing regexp: missing closing ): `a(b`"));
        // An expression with long matches is compiled. It is an error when its compiled form is too
        // large.
        check(r"(\d{50}){4}", None);
        check(r"[a-z]{1000}", None);
        check(r"([a-z]{10}|[0-9]{100}){10}", None);
        check(r"\pL{1000}", Some(r"error parsing regexp: expression nests too deeply: `\pL{1000}`"));
        check(r"(\w{1000}){1000}", Some("error parsing regexp: invalid repeat count: `{1000}`"));
        check(r"(a{11}){3,91}", Some("error parsing regexp: invalid repeat count: `{3,91}`"));
        check("a{1001}", Some("error parsing regexp: invalid repeat count: `{1001}`"));
    }
}
