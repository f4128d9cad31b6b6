//! Text formatting of Go: upstream's client-visible messages use Go's `%q`, `time.quote` and
//! `encoding/json`.

use std::fmt::Write;

/// Quotes like Go's `strconv.Quote` (`%q`).
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        push_quoted(&mut out, character);
    }
    out.push('"');
    out
}

fn push_quoted(out: &mut String, character: char) {
    let written = match character {
        '"' | '\\' => {
            out.push('\\');
            out.push(character);
            return;
        }
        '\x07' => out.write_str("\\a"),
        '\x08' => out.write_str("\\b"),
        '\x0c' => out.write_str("\\f"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\x0b' => out.write_str("\\v"),
        ' '..='~' => out.write_char(character),
        '\0'..='\x7f' => write!(out, "\\x{:02x}", character as u32),
        _ if is_printable(character) => out.write_char(character),
        '\u{80}'..='\u{ffff}' => write!(out, "\\u{:04x}", character as u32),
        _ => write!(out, "\\U{:08x}", character as u32),
    };
    debug_assert!(written.is_ok(), "writing to a String cannot fail");
}

/// Go's `unicode.IsPrint`.
///
/// Outside of ASCII, the standard library makes the same decision for debug output, except that it
/// also escapes a leading combining character; therefore a letter is prepended.
pub fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return matches!(character, ' '..='~');
    }
    let mut buffer = [0u8; 5];
    buffer[0] = b'a';
    let length = 1 + character.encode_utf8(&mut buffer[1..]).len();
    std::str::from_utf8(&buffer[..length]).is_ok_and(|text| text.escape_debug().nth(1) == Some(character))
}

/// Quotes like the parse errors of Go's `time` package: bytes outside of printable ASCII become
/// `\x..`.
pub(super) fn quote_time(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(byte as char);
            }
            b' '..=0x7f => out.push(byte as char),
            _ => {
                let written = write!(out, "\\x{byte:02x}");
                debug_assert!(written.is_ok(), "writing to a String cannot fail");
            }
        }
    }
    out.push('"');
    out
}

/// Appends a JSON string like Go's `encoding/json`, with `<`, `>`, `&` and the line separators
/// escaped.
pub fn append_json_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if matches!(byte, b' '..=b'~' | 0x7f) && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&') {
            continue;
        }
        if byte >= 0x80 && !is_line_separator(&bytes[at..]) {
            continue;
        }
        out.extend_from_slice(&bytes[copied..at]);
        copied = at + append_escaped(out, &bytes[at..]);
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// A JSON string as [`append_json_string`] writes it.
pub fn json_string(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    append_json_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

/// Whether U+2028 or U+2029 starts here, which are line terminators in JavaScript.
pub(super) fn is_line_separator(bytes: &[u8]) -> bool {
    matches!(bytes, [0xe2, 0x80, 0xa8 | 0xa9, ..])
}

/// Appends the escape of the first character of `bytes`; returns its length in bytes.
fn append_escaped(out: &mut Vec<u8>, bytes: &[u8]) -> usize {
    match bytes[0] {
        byte @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
        b'\x08' => out.extend_from_slice(b"\\b"),
        b'\x0c' => out.extend_from_slice(b"\\f"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        byte => return append_unicode_escape(out, byte, bytes),
    }
    1
}

/// Appends `\u00xx` for one byte, or `\u2028` or `\u2029` for the separator that starts `bytes`.
pub(super) fn append_unicode_escape(out: &mut Vec<u8>, byte: u8, bytes: &[u8]) -> usize {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    if byte >= 0x80 {
        out.extend_from_slice(if bytes[2] == 0xa8 { b"\\u2028" } else { b"\\u2029" });
        return 3;
    }
    out.extend_from_slice(b"\\u00");
    out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_go_does() {
        let cases = [
            ("", r#""""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\u{7}\u{8}\u{c}\n\r\t\u{b}\0\u{7f}", r#""\a\b\f\n\r\t\v\x00\x7f""#),
            ("é日本\u{301}", "\"é日本\u{301}\""),
            ("\u{a0}\u{200b}\u{feff}\u{ad}", r#""\u00a0\u200b\ufeff\u00ad""#),
            ("\u{e0001}😀", "\"\\U000e0001😀\""),
            ("\u{fffd}", "\"\u{fffd}\""),
        ];
        for (text, expect) in cases {
            assert_eq!(quote(text), expect);
        }
    }

    #[test]
    fn writes_json_strings_as_go_does() {
        let cases = [
            ("plain é", "\"plain é\""),
            ("<a&b>", "\"\\u003ca\\u0026b\\u003e\""),
            ("\u{2028}\u{2029}\u{2027}", "\"\\u2028\\u2029\u{2027}\""),
            ("\"\\\n\t\r\u{8}\u{c}\u{1}\u{7f}", "\"\\\"\\\\\\n\\t\\r\\b\\f\\u0001\u{7f}\""),
        ];
        for (text, expect) in cases {
            assert_eq!(json_string(text), expect);
        }
    }
}
