//! JSON as text, for values that are not decoded: validation, compaction, unquoting.
//!
//! Errors have the words of Go's `encoding/json`.

use super::error::ScalarError;
use super::go_text::{append_unicode_escape, is_line_separator, quote};
use crate::limits::MAX_STORED_DEPTH;
use std::borrow::Cow;

/// Checks that the bytes are a single JSON value, optionally surrounded by white space.
///
/// # Errors
/// [`ScalarError::JsonSyntax`], with Go's text, when the bytes are not one JSON value.
pub fn validate(json: &[u8]) -> Result<(), ScalarError> {
    let mut checker = Checker { json, at: 0 };
    checker.document()
}

/// Appends valid JSON as Go's encoder embeds a `json.RawMessage`: white space outside of strings is
/// dropped, and `<`, `>`, `&` and the line separators are escaped. For invalid JSON, the output is
/// unspecified and also invalid.
pub fn append_compact(out: &mut Vec<u8>, json: &[u8]) {
    let (mut at, mut copied, mut in_string) = (0, 0, false);
    while at < json.len() {
        let byte = json[at];
        let skipped = match byte {
            b'"' => {
                in_string = !in_string;
                0
            }
            b'\\' => {
                at += 2;
                continue;
            }
            b' ' | b'\t' | b'\r' | b'\n' if !in_string => {
                out.extend_from_slice(&json[copied..at]);
                1
            }
            b'<' | b'>' | b'&' => {
                out.extend_from_slice(&json[copied..at]);
                append_unicode_escape(out, byte, &json[at..])
            }
            0xe2 if is_line_separator(&json[at..]) => {
                out.extend_from_slice(&json[copied..at]);
                append_unicode_escape(out, byte, &json[at..])
            }
            _ => 0,
        };
        if skipped > 0 {
            at += skipped;
            copied = at;
        } else {
            at += 1;
        }
    }
    out.extend_from_slice(&json[copied..]);
}

/// Decodes a quoted JSON string; `null` decodes as the empty string. Any other value is a type
/// error (Go: decoding into a `string`).
///
/// # Errors
/// [`ScalarError`] when the text is not JSON, or is another value than a string or `null`.
pub fn decode_string(json: &str) -> Result<Cow<'_, str>, ScalarError> {
    let json = trim(json);
    let Some(inner) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        validate(json.as_bytes())?;
        if json == "null" {
            return Ok(Cow::Borrowed(""));
        }
        return Err(ScalarError::JsonType { found: kind(json).into(), wanted: "string" });
    };
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    validate(json.as_bytes())?;
    Ok(Cow::Owned(unescape(inner)))
}

/// The value without surrounding white space.
pub(super) fn trim(json: &str) -> &str {
    json.trim_matches([' ', '\t', '\r', '\n'])
}

/// Go's name of the type of a JSON value.
pub(super) fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'"') => "string",
        Some(b't' | b'f') => "bool",
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'n') => "null",
        _ => "number",
    }
}

/// Resolves the escapes of a valid string; a lone surrogate becomes U+FFFD.
fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        let (character, length) = match escape {
            b'b' => ('\x08', 2),
            b'f' => ('\x0c', 2),
            b'n' => ('\n', 2),
            b'r' => ('\r', 2),
            b't' => ('\t', 2),
            b'u' => unicode_escape(&rest[at..]),
            other => (other as char, 2),
        };
        out.push(character);
        rest = rest.get(at + length..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

fn unicode_escape(text: &str) -> (char, usize) {
    let Some(first) = code_unit(text) else { return (char::REPLACEMENT_CHARACTER, 6) };
    let second = if (0xd800..0xdc00).contains(&first) { text.get(6..).and_then(code_unit) } else { None };
    match second {
        Some(second @ 0xdc00..=0xdfff) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        _ => (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
    }
}

fn code_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

struct Checker<'a> {
    json: &'a [u8],
    at: usize,
}

impl Checker<'_> {
    fn document(&mut self) -> Result<(), ScalarError> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            let opened = self.value()?;
            if let Some(bracket) = opened {
                open.push(bracket);
                if open.len() > MAX_STORED_DEPTH {
                    return Err(refuse(bracket, "exceeded max depth"));
                }
                if !self.close_at_once(bracket)? {
                    continue;
                }
                open.pop();
            }
            if !self.after_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Reads a scalar, or consumes and returns the opening bracket of an array or object.
    fn value(&mut self) -> Result<Option<u8>, ScalarError> {
        self.skip_blanks();
        match self.next()? {
            bracket @ (b'{' | b'[') => return Ok(Some(bracket)),
            b'"' => self.string()?,
            b't' => self.word("true")?,
            b'f' => self.word("false")?,
            b'n' => self.word("null")?,
            digit @ (b'-' | b'0'..=b'9') => self.number(digit)?,
            other => return Err(refuse(other, "looking for beginning of value")),
        }
        Ok(None)
    }

    /// After an opening bracket: returns true if the container is empty. Otherwise reads the first
    /// key of an object.
    fn close_at_once(&mut self, bracket: u8) -> Result<bool, ScalarError> {
        self.skip_blanks();
        match (bracket, self.peek()) {
            (b'{', Some(b'}')) | (b'[', Some(b']')) => {
                self.at += 1;
                Ok(true)
            }
            (b'{', _) => self.key().map(|()| false),
            _ => Ok(false),
        }
    }

    /// After a value: closes the containers that end here. Returns false at the end of the
    /// document.
    fn after_value(&mut self, open: &mut Vec<u8>) -> Result<bool, ScalarError> {
        loop {
            self.skip_blanks();
            let Some(bracket) = open.last() else {
                return match self.peek() {
                    None => Ok(false),
                    Some(other) => Err(refuse(other, "after top-level value")),
                };
            };
            match (bracket, self.next()?) {
                (b'{', b',') => return self.key().map(|()| true),
                (b'[', b',') => return Ok(true),
                (b'{', b'}') | (b'[', b']') => open.pop(),
                (b'{', other) => return Err(refuse(other, "after object key:value pair")),
                (_, other) => return Err(refuse(other, "after array element")),
            };
        }
    }

    fn key(&mut self) -> Result<(), ScalarError> {
        self.skip_blanks();
        match self.next()? {
            b'"' => self.string()?,
            other => return Err(refuse(other, "looking for beginning of object key string")),
        }
        self.skip_blanks();
        match self.next()? {
            b':' => Ok(()),
            other => Err(refuse(other, "after object key")),
        }
    }

    fn string(&mut self) -> Result<(), ScalarError> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                control @ 0..b' ' => return Err(refuse(control, "in string literal")),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), ScalarError> {
        match self.next_or_blank() {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => (0..4).try_for_each(|_| match self.next_or_blank() {
                digit if digit.is_ascii_hexdigit() => Ok(()),
                other => Err(refuse(other, "in \\u hexadecimal character escape")),
            }),
            other => Err(refuse(other, "in string escape code")),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), ScalarError> {
        for expected in &word.as_bytes()[1..] {
            let found = self.next_or_blank();
            if found != *expected {
                return Err(refuse(found, &format!("in literal {word} (expecting {})", quote_byte(*expected))));
            }
        }
        Ok(())
    }

    fn number(&mut self, first: u8) -> Result<(), ScalarError> {
        let digit = if first == b'-' { self.digit("in numeric literal")? } else { first };
        if digit != b'0' {
            self.skip_digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.skip_digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.skip_digits();
        }
        Ok(())
    }

    fn digit(&mut self, context: &str) -> Result<u8, ScalarError> {
        match self.next_or_blank() {
            digit @ b'0'..=b'9' => Ok(digit),
            other => Err(refuse(other, context)),
        }
    }

    fn skip_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    /// Go's scanner ends a document by scanning a blank, and reports the blank if it is not valid
    /// there.
    fn next_or_blank(&mut self) -> u8 {
        let byte = self.peek().unwrap_or(b' ');
        self.at += 1;
        byte
    }

    fn next(&mut self) -> Result<u8, ScalarError> {
        let byte = self.peek().ok_or_else(|| ScalarError::syntax(format_args!("unexpected end of JSON input")))?;
        self.at += 1;
        Ok(byte)
    }
}

fn refuse(byte: u8, context: &str) -> ScalarError {
    ScalarError::syntax(format_args!("invalid character {} {context}", quote_byte(byte)))
}

/// Go's scanner shows bytes, not characters.
fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => {
            let quoted = quote(char::from(byte).encode_utf8(&mut [0; 2]));
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacts_as_go_does() {
        let cases = [
            ("{}", "{}"),
            (" { \"a\" : [ 1 , 2 ] } \n", "{\"a\":[1,2]}"),
            ("\"a b\\\" c\\\\\"", "\"a b\\\" c\\\\\""),
            ("[\"<a>&\u{2028}\u{2029}\u{2027}\"]", "[\"\\u003ca\\u003e\\u0026\\u2028\\u2029\u{2027}\"]"),
            ("1.50e+1", "1.50e+1"),
        ];
        for (json, expect) in cases {
            let mut out = Vec::new();
            append_compact(&mut out, json.as_bytes());
            assert_eq!(String::from_utf8(out).unwrap(), expect);
        }
    }

    #[test]
    fn survives_text_that_is_not_json() {
        for garbage in [&b"\\"[..], b"\"\\", b"\xe2", b"\xe2\x80", b"k8s\0<", b"\"\\u12"] {
            append_compact(&mut Vec::new(), garbage);
            assert!(validate(garbage).is_err());
        }
    }

    #[test]
    fn syntax_errors_match_go() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("\"a", "unexpected end of JSON input"),
            ("nul", "invalid character ' ' in literal null (expecting 'l')"),
            ("1e", "invalid character ' ' in exponent of numeric literal"),
            ("{\"a\"", "unexpected end of JSON input"),
            ("x", "invalid character 'x' looking for beginning of value"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{,}", "invalid character ',' looking for beginning of object key string"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 2}", "invalid character '2' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("1 é", "invalid character 'Ã' after top-level value"),
            ("01", "invalid character '1' after top-level value"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("trux", "invalid character 'x' in literal true (expecting 'e')"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u00g0\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("'", "invalid character '\\'' looking for beginning of value"),
        ];
        for (json, expect) in cases {
            assert_eq!(validate(json.as_bytes()).unwrap_err().to_string(), expect, "{json}");
        }
        let deep = "[".repeat(10_001);
        assert_eq!(validate(deep.as_bytes()).unwrap_err().to_string(), "invalid character '[' exceeded max depth");
    }

    #[test]
    fn accepts_json() {
        for json in ["null", " true ", "[]", "[[],{}]", "{\"a\":{\"b\":[-0.1e-5,\"\\u00e9\\n\"]},\"c\":false}", "0"] {
            assert!(validate(json.as_bytes()).is_ok(), "{json}");
        }
    }

    #[test]
    fn unquotes_strings() {
        let cases = [
            ("\"a\"", "a"),
            ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\x08\x0c\n\r\t"),
            ("\"\\u00e9\\ud83d\\ude00x\"", "é😀x"),
            ("\"\\ud83dx\\ude00\"", "\u{fffd}x\u{fffd}"),
            ("\"\\ud83d\\ud83d\\ude00\"", "\u{fffd}😀"),
        ];
        for (json, expect) in cases {
            assert_eq!(decode_string(json).unwrap(), expect);
        }
        for (json, found) in [("1", "number"), ("true", "bool"), ("{}", "object"), ("[]", "array")] {
            let expect = format!("json: cannot unmarshal {found} into Go value of type string");
            assert_eq!(decode_string(json).unwrap_err().to_string(), expect);
        }
    }
}
