//! Warnings for the client (`Warning: 299 - "..."` headers), collected while a request is handled.

use http::{HeaderMap, HeaderValue, header};
pub use machinery::hooks::Warnings;

/// Upstream's limit of the text of one warning, once the total exceeds its limit.
const LONG_TEXT: usize = 256;

/// Upstream's limit of the total text of all warnings (`warning.truncateAtTotalRunes`).
const ALL_TEXT: usize = 4 * 1024;

/// Writes the headers. Long warnings are truncated when the total exceeds the limit.
pub fn write_to(warnings: &Warnings, headers: &mut HeaderMap) {
    let texts = warnings.texts();
    if texts.is_empty() {
        return;
    }
    let fits = || texts.iter().map(|text| text.chars().count()).sum::<usize>() <= ALL_TEXT;
    // A text has at most as many characters as bytes.
    let is_cut = texts.iter().map(String::len).sum::<usize>() > ALL_TEXT && !fits();
    let mut left = ALL_TEXT;
    for text in &texts {
        let end = if is_cut { text.char_indices().nth(LONG_TEXT) } else { None };
        let cut = end.map_or(&text[..], |(end, _)| &text[..end]);
        let Some(text) = header_text(cut) else { continue };
        let Some(rest) = left.checked_sub(cut.chars().count()) else { break };
        left = rest;
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.append(header::WARNING, value);
        }
    }
}

/// The header value of a warning: code 299, no agent, the text as a quoted string
/// (`net.NewWarningHeader`). Text with control characters yields no header.
fn header_text(text: &str) -> Option<String> {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if text.bytes().all(is_plain) {
        return Some(format!("299 - \"{text}\""));
    }
    if text.contains(char::is_control) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 10);
    out.push_str("299 - \"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(texts: &[&str]) -> Vec<String> {
        let warnings = Warnings::default();
        texts.iter().for_each(|t| warnings.add(t));
        let mut headers = HeaderMap::new();
        write_to(&warnings, &mut headers);
        headers.get_all(header::WARNING).iter().map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned()).collect()
    }

    #[test]
    fn warnings_become_headers_once_each() {
        assert_eq!(written(&["old", "a \"b\" \\", "old", ""]), [r#"299 - "old""#, r#"299 - "a \"b\" \\""#]);
        assert_eq!(written(&["a\tb", "c"]), [r#"299 - "c""#]);
    }

    #[test]
    fn too_much_text_is_cut() {
        let texts: Vec<String> = (0..30).map(|i| format!("{i:03}{}", "x".repeat(397))).collect();
        let out = written(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(out.len(), 16);
        assert!(out.iter().all(|w| w.len() == 256 + 8));
    }
}
