//! Regular expressions: those that values have to match, and what is wrong with one in Go's words (`regexp/syntax.Error`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use regex::Regex;
use regex_syntax::ast::ErrorKind;

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

/// So long is the longest text that a repetition certainly not too large to be compiled can match.
const SHORT: usize = 256;

/// Whether what can be parsed can be compiled. Compiling takes long, and only what is repeated a given number of times can grow too large.
fn compiles(pattern: &str) -> bool {
    let Ok(parsed) = regex_syntax::parse(pattern) else { return false };
    let is_short = parsed.properties().maximum_len().is_some_and(|longest| longest <= SHORT);
    is_short || !pattern.contains('{') || shared(pattern).is_some()
}

/// The fault of an expression that cannot be compiled.
pub fn fault(pattern: &str) -> Option<String> {
    let error = match regex_syntax::ast::parse::Parser::new().parse(pattern) {
        Ok(_) => return (!compiles(pattern)).then(|| told("expression nests too deeply", pattern)),
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
        check(r"(\w{1000}){1000}", Some(r"error parsing regexp: expression nests too deeply: `(\w{1000}){1000}`"));
    }
}
