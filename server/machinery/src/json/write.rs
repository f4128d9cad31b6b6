//! Writes JSON tokens like Go's `encoding/json` with HTML escaping, as kube-apiserver does.

use crate::scalar::{digits, json_text};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Known properties of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Utf8,
    /// Arbitrary bytes: those outside of ASCII are special, too.
    Nothing,
}

/// Nonzero if any of eight bytes needs a closer look before it is copied into a string.
///
/// These are quotes, backslashes, control characters, `<`, `>`, `&`, and 0xe2, which may start
/// U+2028 or U+2029. In each byte, the high bit of `(x - 1) & !x` is set if it is zero. A borrow
/// may only set bits above the first true one, which does not change the result.
#[inline(always)]
fn special(chunk: [u8; 8], known: Known) -> u64 {
    let x = u64::from_le_bytes(chunk);
    let zero = |v: u64| v.wrapping_sub(ONES) & !v;
    let is = |b: u8| zero(x ^ (ONES * b as u64));
    // The two characters of a pair differ in one bit: `<` and `>`, `"` and `&`.
    let is_either = |b: u8, bit: u8| zero((x | (ONES * bit as u64)) ^ (ONES * b as u64));
    let control = x.wrapping_sub(ONES * 0x20) & !x;
    let separator = if known == Known::Utf8 { is(0xe2) } else { x };
    (control | is(b'\\') | separator | is_either(b'>', 2) | is_either(b'&', 4)) & HIGHS
}

/// Whether any byte of a chunk is special.
#[inline(always)]
fn any_special(chunk: &[u8; 16], known: Known) -> bool {
    let [first, last] = chunk.as_chunks().0 else { return true };
    special(*first, known) | special(*last, known) != 0
}

/// Appends text that needs no escapes. Returns false, after a part of it, if the text has special
/// bytes.
///
/// It copies chunks of fixed sizes, the last of which overlaps the one before: for short texts this
/// is much faster than `memcpy`.
#[inline(always)]
fn plain(out: &mut Vec<u8>, text: &[u8], known: Known) -> bool {
    let end = out.len() + text.len();
    if let Some(last) = text.last_chunk::<16>() {
        for chunk in text.as_chunks::<16>().0 {
            out.extend_from_slice(chunk);
            if any_special(chunk, known) {
                return false;
            }
        }
        out.truncate(end - 16);
        out.extend_from_slice(last);
        return !any_special(last, known);
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        out.extend_from_slice(first);
        out.truncate(end - 8);
        out.extend_from_slice(last);
        return special(*first, known) | special(*last, known) == 0;
    }
    if let (Some([a, b, c, d]), Some([e, f, g, h])) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        out.extend_from_slice(&[*a, *b, *c, *d]);
        out.truncate(end - 4);
        out.extend_from_slice(&[*e, *f, *g, *h]);
        return special([*a, *b, *c, *d, *e, *f, *g, *h], known) == 0;
    }
    let (Some(&first), Some(&last)) = (text.first(), text.last()) else { return true };
    let middle = text[text.len() / 2];
    out.extend_from_slice(&[first, middle, last]);
    out.truncate(end);
    special([first, middle, last, last, last, last, last, last], known) == 0
}

/// Appends a string with quotes.
#[inline]
pub fn string(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    out.reserve(text.len() + 2);
    out.push(b'"');
    if plain(out, text.as_bytes(), Known::Utf8) {
        out.push(b'"');
    } else {
        out.truncate(start);
        crate::scalar::go_text::append_json_string(out, text);
    }
}

/// Appends a string with quotes and a prefix, which must not need escapes.
#[inline]
pub fn prefixed_string(out: &mut Vec<u8>, prefix: &'static str, text: &str) {
    let start = out.len();
    out.reserve(prefix.len() + text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    if plain(out, text.as_bytes(), Known::Utf8) {
        out.push(b'"');
    } else {
        out.truncate(start);
        crate::scalar::go_text::append_json_string(out, &format!("{prefix}{text}"));
    }
}

/// Appends text with quotes, if it is UTF-8. Nearly all text is ASCII, which the copy detects.
#[inline]
pub(crate) fn text(out: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    let start = out.len();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    if plain(out, bytes, Known::Nothing) {
        out.push(b'"');
    } else {
        out.truncate(start);
        string(out, std::str::from_utf8(bytes).ok()?);
    }
    Some(())
}

#[inline]
pub(crate) fn integer(out: &mut Vec<u8>, value: i64) {
    digits::append_i64(out, value);
}

/// Appends a number in Go's shortest form: plain between 1e-6 and 1e21, with an exponent outside.
pub fn float(out: &mut Vec<u8>, value: f64) {
    let size = value.abs();
    if !value.is_finite() {
        // JSON cannot represent these values, and decoders reject them; upstream fails the whole
        // response.
        out.extend_from_slice(b"null");
    } else if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        out.extend_from_slice(if text.contains("e-") { text } else { text.replace('e', "e+") }.as_bytes());
    } else {
        out.extend_from_slice(value.to_string().as_bytes());
    }
}

/// Appends base64 text with quotes.
pub(crate) fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    use ::base64::engine::{Engine, general_purpose::STANDARD};
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
    out.push(b'"');
}

/// Whether [`raw`] would not change the raw JSON. False also for blanks in strings, which `raw`
/// then examines.
fn is_compact(text: &[u8]) -> bool {
    #[inline(always)]
    fn chunk_is_compact<const N: usize>(chunk: &[u8; N]) -> bool {
        let mut any = 0u8;
        for &b in chunk {
            any |= ((b <= b' ') | (b == b'<') | (b == b'>') | (b == b'&') | (b == 0xe2)) as u8;
        }
        any == 0
    }
    let (chunks, rest) = text.as_chunks::<32>();
    chunks.iter().all(chunk_is_compact) && rest.iter().all(|b| chunk_is_compact(&[*b]))
}

/// Appends raw JSON like Go's `json.Compact` with HTML escaping: removes blanks between tokens, and
/// escapes characters that are special in HTML or JavaScript. The text must be valid JSON.
pub(crate) fn raw(out: &mut Vec<u8>, text: &[u8]) {
    if is_compact(text) {
        out.extend_from_slice(text);
    } else {
        json_text::append_compact(out, text);
    }
}

#[cfg(test)]
mod tests {
    use crate::scalar::go_text::append_json_string;

    #[test]
    fn strings_of_every_length_match_go() {
        let plain: String = ('a'..='z').chain('A'..='Z').collect();
        for length in 0..=plain.len() {
            let specials = ['"', '\\', '<', '>', '&', '\n', '\u{1f}', '\u{2028}', '\u{e9}', '\u{7f}', ' '];
            let with = |at: usize, c: char| format!("{}{c}{}", &plain[..at], &plain[at..length]);
            let texts = (0..=length).flat_map(|at| specials.map(|special| with(at, special)));
            for text in texts.chain([plain[..length].to_owned()]) {
                let (mut ours, mut unchecked, mut gos) = (Vec::new(), Vec::new(), Vec::new());
                super::string(&mut ours, &text);
                append_json_string(&mut gos, &text);
                assert_eq!(ours, gos, "{text:?}");
                let (mut ours, mut gos_prefixed) = (Vec::new(), Vec::new());
                super::prefixed_string(&mut ours, "f:", &text);
                append_json_string(&mut gos_prefixed, &format!("f:{text}"));
                assert_eq!(ours, gos_prefixed, "{text:?}");
                assert_eq!(super::text(&mut unchecked, text.as_bytes()), Some(()));
                assert_eq!(unchecked, gos, "{text:?}");
            }
        }
        for bad in [&b"\xff"[..], b"ab\xc3", b"0123456789abcdef\xff", b"01234567\x80"] {
            assert_eq!(super::text(&mut Vec::new(), bad), None, "{bad:?}");
        }
    }
}
