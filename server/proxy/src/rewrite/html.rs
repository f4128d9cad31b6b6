//! Links of a page. Everything else of it stays as it is, byte by byte.

use std::convert::Infallible;

use html5gum::Span;
use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

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

/// The page with the addresses for which `address` knows a better one replaced.
pub fn rewrite(page: &[u8], address: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let mut out = Vec::with_capacity(page.len());
    let (mut copied, mut element, mut is_link) = (0, String::new(), false);
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, span: Span<usize>| -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => element = String::from_utf8_lossy(name).into_owned(),
            CallbackEvent::EndTag { .. } => element.clear(),
            CallbackEvent::AttributeName { name } => is_link = holds_address(name, &element),
            CallbackEvent::AttributeValue { value } if is_link => {
                let better = address(&String::from_utf8_lossy(value));
                if let (Some(better), Some(before)) = (better, page.get(copied..span.start)) {
                    out.extend_from_slice(before);
                    escape(&better, &mut out);
                    copied = span.end;
                }
            }
            _ => {}
        }
        None
    });
    // Text of scripts and the like is no markup.
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(page, emitter).finish();
    out.extend_from_slice(page.get(copied..).unwrap_or_default());
    out
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
    use super::rewrite;

    #[test]
    fn links_are_replaced_where_they_stand() {
        let check = |page: &str, expect: &str| {
            let address = |address: &str| address.strip_prefix('/').map(|rest| format!("/p/{rest}"));
            assert_eq!(String::from_utf8(rewrite(page.as_bytes(), address)).unwrap(), expect);
        };
        check("<A  HREF='/a'>x</A>", "<A  HREF='/p/a'>x</A>");
        check("<img alt=\"/a\" src=/a><p href=/a>", "<img alt=\"/a\" src=/p/a><p href=/a>");
        check("<a href=\"/a?b=1&amp;c=2\">", "<a href=\"/p/a?b&#61;1&#38;c&#61;2\">");
        for stays in [
            "<a href=a>",
            "<!-- <a href=/a> --><script>'<a href=/a>'</script><textarea><a href=/a></textarea>",
            "a < b \u{e4} <a href=",
        ] {
            check(stays, stays);
        }
    }
}
