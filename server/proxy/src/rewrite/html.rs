//! Links of a page that arrives in pieces. Everything else of the page stays as it is, byte by byte.
//!
//! A piece of a page is tokenized up to the last token that is complete; the rest waits for the next piece.
//! What waits is bounded by [`WINDOW`]: a longer token is passed on as it is.

use html5gum::Span;
use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

/// Most bytes of a token that is not complete, such as a tag or a comment.
pub const WINDOW: usize = 64 << 10;

/// Attributes that hold addresses, and the elements in which they do (HTML 4.01 and 5).
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
/// The one attribute more: names of maps.
const USEMAP: (&str, &[&str]) = ("usemap", &["img", "input", "object"]);

/// Elements whose content is text without markup, up to their end tag.
const TEXT_ELEMENTS: [&str; 9] =
    ["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"];

/// Replaces the addresses of a page for which `address` knows a better one.
pub struct Rewriter<A> {
    address: A,
    /// The beginning of a token that is not complete.
    rest: Vec<u8>,
    /// The element whose text is being read, if there is one.
    text_of: Option<&'static str>,
}

/// What was found in a piece of markup.
struct Scanned {
    /// Where the last complete token ends.
    end: usize,
    /// The last token begins an element that holds text.
    text_of: Option<&'static str>,
}

impl<A: Fn(&str) -> Option<String>> Rewriter<A> {
    pub fn new(address: A) -> Self {
        Rewriter { address, rest: Vec::new(), text_of: None }
    }

    /// Appends to `out` what is complete with the next piece of the page.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let waited = self.rest.len();
        self.rest.extend_from_slice(piece);
        // A token that comes in many pieces is looked at whenever it has doubled.
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

    /// Appends what is left at the end of the page.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let page = std::mem::take(&mut self.rest);
        let end = self.rewrite(&page, true, out);
        out.extend_from_slice(page.get(end..).unwrap_or_default());
    }

    /// Appends complete tokens; gives where they end.
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

    /// Appends complete tokens of markup, up to an element that holds text.
    fn scan(&self, page: &[u8], is_last: bool, out: &mut Vec<u8>) -> Scanned {
        let (mut element, mut is_link) = (String::new(), false);
        // Replacements of the tag that is being read: it may turn out not to be complete.
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
                    let better = (self.address)(&String::from_utf8_lossy(value));
                    replacements.extend(better.map(|better| (span, better)));
                }
                CallbackEvent::CloseStartTag { .. } => {
                    for (span, better) in replacements.drain(..) {
                        out.extend_from_slice(page.get(copied..span.start).unwrap_or_default());
                        escape(&better, out);
                        copied = span.end;
                    }
                    end = span.end;
                    text_of = TEXT_ELEMENTS.into_iter().find(|name| *name == element);
                    // Text is not markup: the tokenizer ends here.
                    return text_of.map(|_| ());
                }
                CallbackEvent::EndTag { .. } => {
                    element.clear();
                    replacements.clear();
                    end = span.end;
                }
                // One that ends with the page may go on.
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

/// Where the text ends that begins there: markup that is not complete begins with `<`.
fn text_end(page: &[u8], begin: usize) -> usize {
    let text = page.get(begin..).unwrap_or_default();
    begin + text.iter().position(|byte| *byte == b'<').unwrap_or(text.len())
}

/// How much of the text belongs to an element for sure, and whether its end tag follows.
fn text_before_end(text: &[u8], element: &str, is_last: bool) -> (usize, bool) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'<')) {
        let at = from + at;
        let rest = text.get(at..).unwrap_or_default();
        // `</script` and one byte more, which says that the name ends there.
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

/// Writes a text so that it can stand for a value, with or without quotes.
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

    /// The page, when it arrives in pieces of this many bytes.
    fn rewritten(page: &str, size: usize) -> String {
        let (mut rewriter, mut out) = (rewriter(), Vec::new());
        page.as_bytes().chunks(size).for_each(|piece| rewriter.push(piece, &mut out));
        rewriter.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn links_are_replaced_where_they_stand() {
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
    fn what_waits_is_bounded_and_a_longer_tag_is_passed_on() {
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
