//! PEM decoding with the rules of Go's `encoding/pem`: blocks may be anywhere in a text; other text
//! is skipped.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// A PEM block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The type of the block, such as `CERTIFICATE`.
    pub label: String,
    pub has_headers: bool,
    /// The decoded content.
    pub bytes: Vec<u8>,
}

/// The well-formed blocks of a text, in order.
pub fn blocks(text: &str) -> Blocks<'_> {
    Blocks { rest: text }
}

/// Iterator over PEM blocks; see [`blocks`].
#[derive(Clone, Debug)]
pub struct Blocks<'t> {
    rest: &'t str,
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        loop {
            let start = line_starting(self.rest, BEGIN)?;
            let (first, body) = split_line(&self.rest[start + BEGIN.len()..]);
            let end = first.strip_suffix(DASHES).and_then(|label| Some((label, end_of(body, label)?)));
            match end {
                Some((label, (inner, after))) => {
                    self.rest = after;
                    if let Some(block) = decode(label, inner) {
                        return Some(block);
                    }
                }
                // Another block may begin inside an unterminated one.
                None => self.rest = body,
            }
        }
    }
}

/// The offset of the first line with this prefix.
fn line_starting(text: &str, beginning: &str) -> Option<usize> {
    if text.starts_with(beginning) {
        return Some(0);
    }
    text.match_indices(beginning).map(|(at, _)| at).find(|at| text[..*at].ends_with('\n'))
}

/// Splits off the first line, without its line end and trailing blanks.
fn split_line(text: &str) -> (&str, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.trim_end_matches([' ', '\t', '\r']), rest)
}

/// The content of a block with this label, and the text after the block.
fn end_of<'t>(body: &'t str, label: &str) -> Option<(&'t str, &'t str)> {
    let end = line_starting(body, END)?;
    let (line, after) = split_line(&body[end + END.len()..]);
    (line.strip_suffix(DASHES) == Some(label)).then_some((&body[..end], after))
}

/// Decodes a block. Headers are lines with a colon before the data.
fn decode(label: &str, mut inner: &str) -> Option<Block> {
    let mut has_headers = false;
    while let Some((_, rest)) = inner.split_once('\n').filter(|(line, _)| line.contains(':')) {
        has_headers = true;
        inner = rest;
    }
    let data: String = inner.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    Some(Block { label: label.to_owned(), has_headers, bytes: STANDARD.decode(data).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, bool, &[u8])]) {
        let found: Vec<_> = blocks(text).collect();
        let found: Vec<_> = found.iter().map(|b| (b.label.as_str(), b.has_headers, b.bytes.as_slice())).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn parses_same_blocks_as_go() {
        check("", &[]);
        check("no block", &[]);
        check("-----BEGIN A-----\nAQ==\n-----END A-----", &[("A", false, &[1])]);
        check("x\n-----BEGIN A-----\r\nAQ\n==\r\n-----END A-----\ny", &[("A", false, &[1])]);
        check("x -----BEGIN A-----\nAQ==\n-----END A-----\n", &[]);
        check("-----BEGIN A-----\nk: v\n\nAQ==\n-----END A-----\n", &[("A", true, &[1])]);
        check("-----BEGIN A-----\n-----END A-----\n", &[("A", false, &[])]);
        check("-----BEGIN A-----\n-----BEGIN B-----\nAg==\n-----END B-----\n", &[("B", false, &[2])]);
        check("-----BEGIN A-----\n!\n-----END A-----\n-----BEGIN B-----\nAg==\n-----END B-----", &[("B", false, &[2])]);
        check("-----BEGIN A-----\nAQ==\n-----END B-----\n", &[]);
    }
}
