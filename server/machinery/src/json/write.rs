//! Writes JSON tokens as Go's `encoding/json` does with HTML escaping on, which is how kube-apiserver writes.

use crate::scalar::{digits, json_text};

/// Bytes of a string that may not be copied: quotes, backslashes, control characters, `<`, `>`, `&`; 0xe2 may start one of the line
/// separators U+2028 and U+2029.
const fn is_special(b: u8) -> bool {
    (b < 0x20) | (b == b'"') | (b == b'\\') | (b == b'<') | (b == b'>') | (b == b'&') | (b == 0xe2)
}

/// Whether any byte of the chunk is special; without branches, so that the compiler uses vector instructions.
#[inline(always)]
fn any_special<const N: usize>(chunk: &[u8; N]) -> bool {
    let mut any = 0u8;
    for &b in chunk {
        any |= is_special(b) as u8;
    }
    any != 0
}

/// Whether the text can stand between quotes as it is.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    let (chunks, rest) = text.as_chunks::<16>();
    if chunks.iter().any(any_special) {
        return false;
    }
    // The rest is looked at through windows of fixed sizes, which may overlap what was seen.
    match (rest.len(), text.last_chunk::<16>(), rest.first_chunk::<8>(), rest.last_chunk::<8>()) {
        (0, ..) => true,
        (_, Some(last), ..) => !any_special(last),
        (_, None, Some(first), Some(last)) => !any_special(first) && !any_special(last),
        _ => !rest.iter().any(|&b| is_special(b)),
    }
}

/// Appends a string with its quotes.
#[inline]
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    if is_plain(bytes) {
        out.reserve(bytes.len() + 2);
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
    } else {
        crate::scalar::go_text::append_json_string(out, text);
    }
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
