//! Rewrites links of a page that arrives in pieces. All other bytes are unchanged.
//!
//! A piece is tokenized up to its last complete token; the rest waits for the next piece.
//! [`WINDOW`] limits the rest: a longer token is sent unchanged.

use html5gum::Span;
use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

/// Maximum number of bytes of an incomplete token, such as a tag or a comment.
pub const WINDOW: usize = 64 << 10;

/// Attributes with addresses, and their elements (HTML 4.01 and 5).
const LINKS: [(&str, &[&str]); 14] = [
    ("action", &["form"]),
    ("background", &["body"]),
    ("cite", &["blockquote", "del", "ins", "q"]),
    ("classid", &["object"]),
    ("codebase", &["applet", "object"]),
    ("data", &["object"]),
    ("formaction", &["button", "input"]),
    ("href", &["a", "area", "base", "link"]),
    ("icon", &["command"]),
    ("longdesc", &["frame", "iframe", "img"]),
    ("manifest", &["html"]),
    ("poster", &["video"]),
    ("profile", &["head"]),
    ("src", &["audio", "embed", "frame", "iframe", "img", "input", "script", "source", "video"]),
];
/// Attribute with the name of a map.
const USEMAP: (&str, &[&str]) = ("usemap", &["img", "input", "object"]);

/// Elements that contain text without markup, up to their end tag.
const TEXT_ELEMENTS: [&str; 9] =
    ["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"];

/// Replaces the addresses of a page for which `address` returns another one.
pub struct Rewriter<A> {
    address: A,
    /// The start of an incomplete token.
    rest: Vec<u8>,
    /// The current text element, if any.
    text_of: Option<&'static str>,
}

/// The result of scanning markup.
struct Scanned {
    /// End of the last complete token.
    end: usize,
    /// The text element that the last token starts.
    text_of: Option<&'static str>,
}

impl<A: Fn(&str) -> Option<String>> Rewriter<A> {
    pub fn new(address: A) -> Self {
        Rewriter { address, rest: Vec::new(), text_of: None }
    }

    /// Appends the tokens to `out` that the next piece completes.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let waited = self.rest.len();
        self.rest.extend_from_slice(piece);
        // An incomplete token is scanned again only when its length has doubled, so that the cost
        // stays linear.
        if self.rest.len() < (2 * waited).min(WINDOW) {
            return;
        }
        let page = std::mem::take(&mut self.rest);
        let end = self.rewrite(&page, false, out);
        let rest = page.get(end..).unwrap_or_default();
        match rest.len() < WINDOW {
            true => self.rest.extend_from_slice(rest),
            false => out.extend_from_slice(rest),
        }
    }

    /// Appends the rest at the end of the page.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let page = std::mem::take(&mut self.rest);
        let end = self.rewrite(&page, true, out);
        out.extend_from_slice(page.get(end..).unwrap_or_default());
    }

    /// Appends complete tokens. Returns their end.
    fn rewrite(&mut self, page: &[u8], is_last: bool, out: &mut Vec<u8>) -> usize {
        let mut at = 0;
        while let Some(rest) = page.get(at..).filter(|rest| !rest.is_empty()) {
            if let Some(element) = self.text_of {
                let text = text_before_end(rest, element, is_last);
                out.extend_from_slice(rest.get(..text.0).unwrap_or_default());
                at += text.0;
                if !text.1 {
                    break;
                }
                self.text_of = None;
                continue;
            }
            let scanned = self.scan(rest, is_last, out);
            at += scanned.end;
            self.text_of = scanned.text_of;
            if scanned.text_of.is_none() {
                break;
            }
        }
        at
    }

    /// Appends complete tokens of markup, up to a text element.
    fn scan(&self, page: &[u8], is_last: bool, out: &mut Vec<u8>) -> Scanned {
        let (mut element, mut is_link) = (String::new(), false);
        // Replacements in the current tag, which may be incomplete.
        let mut replacements: Vec<(Span<usize>, String)> = Vec::new();
        let (mut copied, mut end, mut text_of) = (0, 0, None);
        let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, span: Span<usize>| -> Option<()> {
            match event {
                CallbackEvent::OpenStartTag { name } => {
                    element = String::from_utf8_lossy(name).into_owned();
                    replacements.clear();
                }
                CallbackEvent::AttributeName { name } => is_link = holds_address(name, &element),
                CallbackEvent::AttributeValue { value } if is_link => {
                    let replacement = (self.address)(&String::from_utf8_lossy(value));
                    replacements.extend(replacement.map(|replacement| (span, replacement)));
                }
                CallbackEvent::CloseStartTag { .. } => {
                    for (span, replacement) in replacements.drain(..) {
                        out.extend_from_slice(page.get(copied..span.start).unwrap_or_default());
                        escape(&replacement, out);
                        copied = span.end;
                    }
                    end = span.end;
                    text_of = TEXT_ELEMENTS.into_iter().find(|name| *name == element);
                    // Text is not markup, so the tokenizer stops here.
                    return text_of.map(|_| ());
                }
                CallbackEvent::EndTag { .. } => {
                    element.clear();
                    replacements.clear();
                    end = span.end;
                }
                // A token that ends with the page may be incomplete.
                CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } if span.end < page.len() => {
                    end = span.end;
                }
                _ => {}
            }
            None
        });
        let _ = Tokenizer::new_with_emitter(page, emitter).next();
        if text_of.is_none() {
            end = if is_last { page.len() } else { text_end(page, end) };
        }
        out.extend_from_slice(page.get(copied..end).unwrap_or_default());
        Scanned { end, text_of }
    }
}

/// Returns the end of the text at `begin`. Incomplete markup starts with `<`.
fn text_end(page: &[u8], begin: usize) -> usize {
    let text = page.get(begin..).unwrap_or_default();
    begin + text.iter().position(|byte| *byte == b'<').unwrap_or(text.len())
}

/// Returns the length of text that certainly belongs to an element, and whether its end tag
/// follows.
fn text_before_end(text: &[u8], element: &str, is_last: bool) -> (usize, bool) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'<')) {
        let at = from + at;
        let rest = text.get(at..).unwrap_or_default();
        // `</script` plus one byte that terminates the name.
        let tag = rest.get(..element.len() + 3);
        match tag {
            Some(tag) if is_end_tag(tag, element) => return (at, true),
            None if !is_last && could_be_end_tag(rest, element) => return (at, false),
            _ => from = at + 1,
        }
    }
    (text.len(), false)
}

fn is_end_tag(tag: &[u8], element: &str) -> bool {
    let ends = tag.last().is_some_and(|last| matches!(last, b'\t' | b'\n' | b'\x0C' | b'\r' | b' ' | b'/' | b'>'));
    ends && could_be_end_tag(tag.get(..tag.len() - 1).unwrap_or_default(), element)
}

fn could_be_end_tag(begin: &[u8], element: &str) -> bool {
    let end_tag = [b"</", element.as_bytes()].concat();
    end_tag.get(..begin.len()).is_some_and(|expect| expect.eq_ignore_ascii_case(begin))
}

fn holds_address(attribute: &[u8], element: &str) -> bool {
    LINKS.iter().chain([&USEMAP]).any(|(name, of)| name.as_bytes() == attribute && of.contains(&element))
}

/// Escapes a text for an attribute value, with or without quotes.
fn escape(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'&' | b'"' | b'\'' | b'<' | b'>' | b'`' | b' ' | b'=' => {
                out.extend_from_slice(format!("&#{byte};").as_bytes());
            }
            byte => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewriter() -> Rewriter<impl Fn(&str) -> Option<String>> {
        Rewriter::new(|address: &str| address.strip_prefix('/').map(|rest| format!("/p/{rest}")))
    }

    /// Rewrites a page that arrives in pieces of this many bytes.
    fn rewritten(page: &str, size: usize) -> String {
        let (mut rewriter, mut out) = (rewriter(), Vec::new());
        page.as_bytes().chunks(size).for_each(|piece| rewriter.push(piece, &mut out));
        rewriter.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rewrites_links_in_place() {
        let check = |page: &str, expect: &str| {
            for size in [1, 2, 3, 7, 1000] {
                assert_eq!(rewritten(page, size), expect, "in pieces of {size}");
            }
        };
        check("<A  HREF='/a'>x</A>", "<A  HREF='/p/a'>x</A>");
        check("<img alt=\"/a\" src=/a><p href=/a>", "<img alt=\"/a\" src=/p/a><p href=/a>");
        check("<a href=\"/a?b=1&amp;c=2\">", "<a href=\"/p/a?b&#61;1&#38;c&#61;2\">");
        check(
            "<script src=/a>'</scriptx>'</SCRIPT ><a href=/b>",
            "<script src=/p/a>'</scriptx>'</SCRIPT ><a href=/p/b>",
        );
        for stays in [
            "<a href=a>",
            "<!-- <a href=/a> --><script>'<a href=/a>'</script><textarea><a href=/a></textarea>",
            "a < b \u{e4} <a href=",
            "<title></titl",
            "<!-- <a href=/a>",
        ] {
            check(stays, stays);
        }
    }

    #[test]
    fn bounds_incomplete_token_and_keeps_longer_tag() {
        let (mut rewriter, mut out) = (rewriter(), Vec::new());
        let long = format!("<a title='{}", "x".repeat(3 * WINDOW));
        for piece in long.as_bytes().chunks(1000) {
            rewriter.push(piece, &mut out);
            assert!(rewriter.rest.len() <= WINDOW + 1000);
        }
        rewriter.push(b"' href=/a><a href=/b>", &mut out);
        rewriter.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), long + "' href=/a><a href=/p/b>");
    }
}
