//! The query of a request, parsed by the rules of Go's `net/url` (`url.ParseQuery`, `url.Values`).

use std::borrow::Cow;
use std::fmt::Write;

use machinery::scalar::go_text::quote;
use machinery::status::Status;
use percent_encoding::percent_decode_str;

/// The maximum number of parameters; Go ignores the whole query if there are more
/// (`urlmaxqueryparams`).
const MAX_PARAMETERS: usize = 10_000;

/// Query parameters in the order of the request. Bytes that are not UTF-8 become U+FFFD.
///
/// A parameter with a semicolon or an invalid escape is ignored. `get` and the methods based on it
/// return the first value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// A query without parameters.
    pub const fn empty() -> Self {
        Query(Vec::new())
    }

    /// Parses the part of a URI after the question mark.
    pub fn parse(text: &str) -> Self {
        if text.is_empty() || text.bytes().filter(|byte| *byte == b'&').count() >= MAX_PARAMETERS {
            return Query::default();
        }
        Query(text.split('&').filter_map(parse_pair).collect())
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first value of a parameter (`Values.Get`).
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first value; empty when absent.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or("")
    }

    /// A boolean; absent is false (`Convert_Slice_string_To_bool`).
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(is_true)
    }

    /// A boolean that may be absent.
    pub fn optional_flag(&self, name: &str) -> Option<bool> {
        self.get(name).map(is_true)
    }

    /// A decimal number.
    ///
    /// # Errors
    /// The value is not a number; an empty value is not one.
    pub fn number(&self, name: &str) -> Result<Option<i64>, Status> {
        self.get(name).map(parse_number).transpose()
    }

    /// The canonical form, which all parsers read alike (`Values.Encode`): sorted by key, with
    /// escapes.
    pub fn encode(&self) -> String {
        let mut sorted: Vec<&(String, String)> = self.0.iter().collect();
        sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut out = String::new();
        for (key, value) in sorted {
            if !out.is_empty() {
                out.push('&');
            }
            escape(key, &mut out);
            out.push('=');
            escape(value, &mut out);
        }
        out
    }
}

/// Parses one parameter; `None` for text that Go ignores.
fn parse_pair(pair: &str) -> Option<(String, String)> {
    if pair.is_empty() || pair.contains(';') {
        return None;
    }
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    Some((unescape(key)?, unescape(value)?))
}

/// `url.QueryUnescape`; `None` for an invalid escape.
fn unescape(text: &str) -> Option<String> {
    if !text.contains(['%', '+']) {
        return Some(text.to_owned());
    }
    if !has_only_whole_escapes(text) {
        return None;
    }
    let text = if text.contains('+') { Cow::Owned(text.replace('+', " ")) } else { Cow::Borrowed(text) };
    Some(percent_decode_str(&text).decode_utf8_lossy().into_owned())
}

/// Whether two hexadecimal digits follow each percent sign.
pub(super) fn has_only_whole_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    bytes.iter().enumerate().all(|(at, byte)| *byte != b'%' || (is_hex(at + 1) && is_hex(at + 2)))
}

/// `url.QueryEscape`
fn escape(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte.into()),
            b' ' => out.push('+'),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
}

fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N, Status> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        Status::bad_request(format!("strconv.ParseInt: parsing {}: {why}", quote(text)))
    })
}

/// As upstream, all values but these are true, including the empty one.
fn is_true(text: &str) -> bool {
    !(text == "0" || text.eq_ignore_ascii_case("false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_go() {
        for (text, expect) in [
            ("", &[][..]),
            ("a=1&a=2", &[("a", "1"), ("a", "2")]),
            ("&&a&=x&", &[("a", ""), ("", "x")]),
            ("a=1;b=2&c=3", &[("c", "3")]),
            ("a=%zz&a=2&%=1&b=%4", &[("a", "2")]),
            ("a+b=c+d%2Be", &[("a b", "c d+e")]),
            ("a=b=c", &[("a", "b=c")]),
            ("%61=%FF", &[("a", "\u{fffd}")]),
        ] {
            let expect: Vec<_> = expect.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            assert_eq!(Query::parse(text).0, expect, "{text}");
        }
        assert!(Query::parse(&"a&".repeat(MAX_PARAMETERS)).is_empty());
        assert!(!Query::parse(&"a&".repeat(MAX_PARAMETERS - 1)).is_empty());
    }

    #[test]
    fn encodes_what_it_has_read() {
        let query = Query::parse("b=2&a=x+y&b=1&c=%zz&a=%26;&d=%C3%A9~/");
        assert_eq!(query.encode(), "a=x+y&b=2&b=1&d=%C3%A9~%2F");
        assert_eq!(Query::parse(&query.encode()).encode(), query.encode());
    }

    #[test]
    fn values_are_converted() {
        let query = Query::parse("n=12&e=&x=y&big=99999999999999999999&t=1&f=False&b&plus=%2B5");
        assert_eq!(query.number("n").unwrap(), Some(12));
        assert_eq!(query.number("none").unwrap(), None);
        let message = |name| query.number(name).unwrap_err().message;
        assert_eq!(message("e"), "strconv.ParseInt: parsing \"\": invalid syntax");
        assert_eq!(message("x"), "strconv.ParseInt: parsing \"y\": invalid syntax");
        assert_eq!(message("big"), "strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
        assert_eq!(query.number("plus").unwrap(), Some(5));
        assert_eq!(["t", "f", "b", "none"].map(|name| query.flag(name)), [true, false, true, false]);
        assert_eq!(query.optional_flag("none"), None);
    }
}
