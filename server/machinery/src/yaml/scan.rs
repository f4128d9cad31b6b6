//! Checks of a text before libyaml parses it.

use super::error;
use crate::json::Error;

/// Limit on the bytes of the directives (`%TAG`) of a document.
///
/// libyaml compares each `%TAG` with all earlier ones, and copies its prefix for each tag that uses
/// it.
const MAX_DIRECTIVES: usize = 1024;

/// Rejects a document with too many or too long directives, which precede its first node.
pub(super) fn check_directives(document: &[u8]) -> Result<(), Error> {
    let text = std::str::from_utf8(document).unwrap_or_default();
    let is_break = |c: char| matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut bytes = 0;
    for line in text.trim_start_matches('\u{feff}').split(is_break) {
        match line.trim_start_matches([' ', '\t', '\u{feff}']).chars().next() {
            None | Some('#') => {}
            Some('%') => bytes += line.len(),
            Some(_) => break,
        }
    }
    if bytes > MAX_DIRECTIVES {
        return Err(error(format_args!("directives exceed {MAX_DIRECTIVES} bytes")));
    }
    Ok(())
}

/// The error of goyaml for bytes that are not UTF-8.
pub(super) fn reader_error(document: &[u8]) -> Option<&'static str> {
    let before = document.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    if before.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) {
        return Some("control characters are not allowed");
    }
    let valid = before.len();
    let (&lead, rest) = document.get(valid..)?.split_first()?;
    let width = match lead {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        0x80.. => return Some("invalid leading UTF-8 octet"),
        _ => return None,
    };
    let Some(trail) = rest.get(..width - 1) else { return Some("incomplete UTF-8 octet sequence") };
    if trail.iter().any(|b| b & 0xc0 != 0x80) {
        return Some("invalid trailing UTF-8 octet");
    }
    let too_long = match lead {
        0xe0 => trail[0] < 0xa0,
        0xf0 => trail[0] < 0x90,
        _ => lead < 0xc2,
    };
    Some(if too_long { "invalid length of a UTF-8 sequence" } else { "invalid Unicode character" })
}
