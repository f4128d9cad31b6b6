//! URLs as Go's `net/url` reads them, as far as messages show what it says.

use crate::scalar::go_text::quote;

/// The parts of a URL. What is escaped stays so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Url<'t> {
    pub scheme: &'t str,
    pub user: Option<&'t str>,
    pub host: &'t str,
    pub query: &'t str,
    pub fragment: &'t str,
}

impl<'t> Url<'t> {
    /// Reads a URL; the error is Go's, with the text that it is about.
    pub fn parse(text: &'t str) -> Result<Self, String> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let parsed = read(text).map_err(|why| format!("parse {}: {why}", quote(text)))?;
        Ok(Url { fragment, ..parsed })
    }
}

fn read(text: &str) -> Result<Url<'_>, String> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".into());
    }
    let (scheme, rest) = split_scheme(text)?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut url = Url { scheme, query, ..Url::default() };
    let mut path = rest;
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Ok(url);
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".into());
        }
    } else if let Some(authority) = rest.strip_prefix("//").filter(|_| !scheme.is_empty() || !rest.starts_with("///")) {
        let end = authority.find('/').unwrap_or(authority.len());
        (url.user, url.host) = split_authority(&authority[..end])?;
        path = &authority[end..];
    }
    check_escapes(path)?;
    Ok(url)
}

/// What stands before the first colon, if that can be a scheme.
fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".into()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Ok(("", text))
}

fn split_authority(authority: &str) -> Result<(Option<&str>, &str), String> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    check_host(host)?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if user.is_some_and(|user| !user.chars().all(is_allowed)) {
        return Err("net/url: invalid userinfo".into());
    }
    Ok((user, host))
}

fn check_host(host: &str) -> Result<(), String> {
    let port = match (host.starts_with('['), host.rfind(']'), host.rfind(':')) {
        (true, None, _) => return Err("missing ']' in host".into()),
        (true, Some(end), _) => &host[end + 1..],
        (false, _, Some(colon)) => &host[colon..],
        (false, _, None) => "",
    };
    let is_port = port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !port.is_empty() && !is_port {
        return Err(format!("invalid port {} after host", quote(port)));
    }
    let is_allowed = |c: &char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(*c);
    match host.chars().find(|c| !is_allowed(c)) {
        Some(wrong) => Err(format!("invalid character {} in host name", quote(&wrong.to_string()))),
        None => check_escapes(host),
    }
}

fn check_escapes(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    let broken = |at: &usize| bytes[*at] == b'%' && !(is_digit(at + 1) && is_digit(at + 2));
    match (0..bytes.len()).find(broken) {
        Some(at) => {
            let shown = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 3)]);
            Err(format!("invalid URL escape {}", quote(&shown)))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn urls_are_read_as_go_does() {
        let check = |text: &str, expect: Result<(&str, Option<&str>, &str, &str, &str), &str>| {
            let parts = Url::parse(text).map(|url| (url.scheme, url.user, url.host, url.query, url.fragment));
            assert_eq!(parts, expect.map_err(String::from), "{text}");
        };
        check("https://a.example.com:8443/x", Ok(("https", None, "a.example.com:8443", "", "")));
        check("https://u:p@a/x?q=1#f", Ok(("https", Some("u:p"), "a", "q=1", "f")));
        check("a/b", Ok(("", None, "", "", "")));
        check("mailto:x", Ok(("mailto", None, "", "", "")));
        check("", Ok(("", None, "", "", "")));
        check("https://[::1]:80", Ok(("https", None, "[::1]:80", "", "")));
        check(":x", Err(r#"parse ":x": missing protocol scheme"#));
        check("1a:b", Err(r#"parse "1a:b": first path segment in URL cannot contain colon"#));
        check("https://a:x/", Err(r#"parse "https://a:x/": invalid port ":x" after host"#));
        check("https://a b/", Err(r#"parse "https://a b/": invalid character " " in host name"#));
        check("https://[::1/", Err(r#"parse "https://[::1/": missing ']' in host"#));
        check("https://a/%zz", Err(r#"parse "https://a/%zz": invalid URL escape "%zz""#));
        check("https://a/\n", Err(r#"parse "https://a/\n": net/url: invalid control character in URL"#));
    }
}
