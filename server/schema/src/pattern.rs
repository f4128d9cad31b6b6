//! What is wrong with a regular expression, in Go's words (`regexp/syntax.Error`).

use regex_syntax::ast::ErrorKind;

/// The fault of an expression that cannot be compiled.
pub fn fault(pattern: &str) -> Option<String> {
    let error = match regex_syntax::ast::parse::Parser::new().parse(pattern) {
        Ok(_) => return regex::Regex::new(pattern).err().map(|_| told("expression nests too deeply", pattern)),
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
