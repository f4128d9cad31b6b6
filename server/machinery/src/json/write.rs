//! Writes JSON tokens as Go's `encoding/json` does with HTML escaping on, which is how kube-apiserver writes.

use crate::scalar::{digits, json_text};

/// Bytes of a string that may not be copied: quotes, backslashes, control characters, `<`, `>`, `&`; 0xe2 may start one of the line
/// separators U+2028 and U+2029.
const fn is_special(b: u8) -> bool {
    (b < 0x20) | (b == b'"') | (b == b'\\') | (b == b'<') | (b == b'>') | (b == b'&') | (b == 0xe2)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// What text is known of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Utf8,
    /// Nothing: bytes that are not ASCII are special too.
    Nothing,
}

/// Whether any of eight bytes is special. In each byte the high bit of `(x - 1) & !x` tells whether it is zero; a borrow may set bits
/// above the first true one only, which does not change the answer.
#[inline(always)]
fn any_special(chunk: [u8; 8], known: Known) -> bool {
    let x = u64::from_le_bytes(chunk);
    let zero = |v: u64| v.wrapping_sub(ONES) & !v;
    let is = |b: u8| zero(x ^ (ONES * b as u64));
    // These differ in one bit: `<` and `>`, `"` and `&`.
    let is_either = |b: u8, bit: u8| zero((x | (ONES * bit as u64)) ^ (ONES * b as u64));
    let control = x.wrapping_sub(ONES * 0x20) & !x;
    let separator = if known == Known::Utf8 { is(0xe2) } else { x };
    (control | is(b'\\') | separator | is_either(b'>', 2) | is_either(b'&', 4)) & HIGHS != 0
}

/// Appends text that can stand between quotes as it is; stops somewhere and says so when it cannot.
///
/// It copies chunks of fixed sizes, the last of which overlaps the one before: for short texts that is much faster than `memcpy`.
#[inline(always)]
fn plain(out: &mut Vec<u8>, text: &[u8], known: Known) -> bool {
    let (chunks, rest) = text.as_chunks::<8>();
    for chunk in chunks {
        out.extend_from_slice(chunk);
        if any_special(*chunk, known) {
            return false;
        }
    }
    if rest.is_empty() {
        return true;
    }
    let end = out.len() + rest.len();
    if let Some(last) = text.last_chunk::<8>() {
        out.truncate(end - 8);
        out.extend_from_slice(last);
        return !any_special(*last, known);
    }
    if let (Some([a, b, c, d]), Some([e, f, g, h])) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        out.extend_from_slice(&[*a, *b, *c, *d]);
        out.truncate(end - 4);
        out.extend_from_slice(&[*e, *f, *g, *h]);
        return !any_special([*a, *b, *c, *d, *e, *f, *g, *h], known);
    }
    out.extend_from_slice(rest);
    !rest.iter().any(|&b| is_special(b) || (known == Known::Nothing && !b.is_ascii()))
}

/// Appends a string with its quotes.
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

/// Appends text with its quotes, if it is UTF-8: nearly all of it is ASCII, which copying it shows.
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
        // JSON has no word for these, and decoders refuse them; upstream fails the whole answer.
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

/// Whether raw JSON has nothing that [`raw`] would change. Blanks inside strings count too: then `raw` looks closer.
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

/// Appends JSON that is already text as Go's `json.Compact` with HTML escaping does: blanks between tokens go, and what HTML or
/// JavaScript would trip over is escaped. The text must be valid JSON.
pub(crate) fn raw(out: &mut Vec<u8>, text: &[u8]) {
    if is_compact(text) {
        out.extend_from_slice(text);
    } else {
        json_text::append_compact(out, text);
    }
}
