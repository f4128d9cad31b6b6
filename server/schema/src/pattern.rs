//! Regular expressions: those that values have to match, and what is wrong with one in Go's words (`regexp/syntax.Error`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use regex::Regex;
use regex_syntax::ast::{Ast, ErrorKind, RepetitionKind, RepetitionRange, Span};

/// A regular expression, compiled when it is first needed. Compiled ones take tens of kilobytes, and definitions say the same few again and
/// again (names, durations, reasons of conditions), so equal ones share what is compiled.
#[derive(Debug)]
pub struct Pattern {
    pub text: Box<str>,
    compiled: OnceLock<Option<Arc<Regex>>>,
}

impl Pattern {
    /// Go's syntax is that of the `regex` crate in all but rare classes.
    pub fn new(text: &str) -> Self {
        Pattern { text: text.into(), compiled: OnceLock::new() }
    }

    /// Whether a text matches somewhere; an expression that cannot be compiled matches nothing.
    pub fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| shared(&self.text));
        compiled.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

/// What is compiled of a text, by whomever it was needed first.
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

/// An expression whose matches are never longer than this, in bytes, can certainly be compiled: for each byte of a match there are at most some
/// kilobytes of it (those of a class such as `\pL`), and there may be ten megabytes.
const SHORT: usize = 256;
/// How often an expression may say a thing by counted repetitions, one within another (`regexp/syntax.repeatIsValid`).
const MOST_COPIES: u32 = 1000;

/// How often the most repeated part of an expression is said by counted repetitions, or where that becomes too often.
fn copies(of: &Ast) -> Result<u32, Span> {
    let most = |all: &[Ast]| all.iter().try_fold(1, |most, one| copies(one).map(|copies| copies.max(most)));
    match of {
        Ast::Group(group) => copies(&group.ast),
        Ast::Alternation(either) => most(&either.asts),
        Ast::Concat(all) => most(&all.asts),
        Ast::Repetition(repetition) => {
            let times = match &repetition.op.kind {
                RepetitionKind::Range(
                    RepetitionRange::Exactly(n) | RepetitionRange::AtLeast(n) | RepetitionRange::Bounded(_, n),
                ) => (*n).max(1),
                _ => 1,
            };
            let all = copies(&repetition.ast)?.saturating_mul(times);
            if all > MOST_COPIES { Err(repetition.op.span) } else { Ok(all) }
        }
        _ => Ok(1),
    }
}

/// Whether what can be parsed can be compiled. To compile it takes long, so that is only done where counted repetitions may make it large.
fn compiles(pattern: &str) -> bool {
    let Ok(parsed) = regex_syntax::parse(pattern) else { return false };
    let is_short = parsed.properties().maximum_len().is_some_and(|longest| longest <= SHORT);
    is_short || !pattern.contains('{') || shared(pattern).is_some()
}

/// The fault of an expression that cannot be compiled.
pub fn fault(pattern: &str) -> Option<String> {
    let error = match regex_syntax::ast::parse::Parser::new().parse(pattern) {
        Ok(parsed) => {
            return match copies(&parsed) {
                Err(at) => Some(told("invalid repeat count", &pattern[at.start.offset..at.end.offset])),
                Ok(_) => (!compiles(pattern)).then(|| told("expression nests too deeply", pattern)),
            };
        }
        Err(error) => error,
    };
    let (start, end) = (error.span().start.offset, error.span().end.offset);
    let from = |at: usize| pattern.get(at..).unwrap_or(pattern);
    let part = pattern.get(start..end).filter(|part| !part.is_empty()).unwrap_or(pattern);
    Some(match error.kind() {
        ErrorKind::GroupUnclosed => told("missing closing )", pattern),
        ErrorKind::GroupUnopened => told("unexpected )", pattern),
        ErrorKind::ClassUnclosed => told("missing closing ]", from(start)),
        ErrorKind::ClassRangeInvalid => told("invalid character class range", part),
        ErrorKind::EscapeUnexpectedEof => told("trailing backslash at end of expression", ""),
        ErrorKind::EscapeUnrecognized => told("invalid escape sequence", part),
        ErrorKind::RepetitionMissing => told("missing argument to repetition operator", part),
        ErrorKind::RepetitionCountInvalid => told("invalid repeat count", part),
        ErrorKind::UnsupportedLookAround => {
            told("invalid or unsupported Perl syntax", pattern.get(start..end.max(start + 3)).unwrap_or(part))
        }
        ErrorKind::GroupNameInvalid | ErrorKind::GroupNameEmpty => told("invalid named capture", from(start)),
        _ => told("invalid or unsupported Perl syntax", part),
    })
}

fn told(what: &str, part: &str) -> String {
    format!("error parsing regexp: {what}: `{part}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_expressions_are_found_without_compiling_all_of_them() {
        let check = |pattern: &str, expect: Option<&str>| assert_eq!(fault(pattern).as_deref(), expect, "{pattern}");
        check(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", None);
        check(r"^\p{L}+/.*$", None);
        check("a{2,}", None);
        check("a(b", Some("error parsing regexp: missing closing ): `a(b`"));
        // What may match long texts is compiled, and what is too large then is a fault.
        check(r"(\d{50}){4}", None);
        check(r"[a-z]{1000}", None);
        check(r"([a-z]{10}|[0-9]{100}){10}", None);
        check(r"\pL{1000}", Some(r"error parsing regexp: expression nests too deeply: `\pL{1000}`"));
        check(r"(\w{1000}){1000}", Some("error parsing regexp: invalid repeat count: `{1000}`"));
        check(r"(a{11}){3,91}", Some("error parsing regexp: invalid repeat count: `{3,91}`"));
        check("a{1001}", Some("error parsing regexp: invalid repeat count: `{1001}`"));
    }
}
