//! URL parsing with the rules and errors of Go's `net/url`, as far as messages show them.

use std::borrow::Cow;
use std::net::IpAddr;

use super::is_dns1123_subdomain;
use crate::Error;
use scalar::go_text::quote;
use status::field_error::FieldError;
use status::field_path::Path;

/// The parts of a URL, with escapes unresolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Url<'t> {
    /// The text before the first colon; empty if the URL is relative.
    pub scheme: &'t str,
    /// User and password before `@`, if there are any.
    pub user: Option<&'t str>,
    /// The host with its port; an IPv6 address is in brackets.
    pub host: &'t str,
    /// The text between `?` and `#`.
    pub query: &'t str,
    /// The text after `#`.
    pub fragment: &'t str,
}

impl<'t> Url<'t> {
    /// Parses a URL.
    ///
    /// # Errors
    /// [`Error::Url`] when the URL is malformed.
    pub fn parse(text: &'t str) -> Result<Self, Error> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let parsed = read(text, false).map_err(Error::url(text))?;
        Ok(Url { fragment, ..parsed })
    }

    /// Parses the target of a request line: an absolute URL or a path (`url.ParseRequestURI`).
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and if the text is neither.
    pub fn parse_request(text: &'t str) -> Result<Self, Error> {
        read(text, true).map_err(Error::url(text))
    }
}

/// Go's reason why a URL is malformed, without the URL.
type Reason = Cow<'static, str>;

fn read(text: &str, is_request: bool) -> Result<Url<'_>, Reason> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err("net/url: invalid control character in URL".into());
    }
    if is_request && text.is_empty() {
        return Err("empty url".into());
    }
    if text == "*" {
        return Ok(Url::default());
    }
    let (scheme, rest) = split_scheme(text)?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut url = Url { scheme, query, ..Url::default() };
    let mut path = rest;
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Ok(url);
        }
        if is_request {
            return Err("invalid URI for request".into());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".into());
        }
    } else if let Some(authority) =
        rest.strip_prefix("//").filter(|_| !scheme.is_empty() || !(is_request || rest.starts_with("///")))
    {
        let end = authority.find('/').unwrap_or(authority.len());
        (url.user, url.host) = split_authority(scheme, &authority[..end])?;
        path = &authority[end..];
    }
    check_escapes(path)?;
    Ok(url)
}

/// Splits off the text before the first colon, if it is a valid scheme.
fn split_scheme(text: &str) -> Result<(&str, &str), Reason> {
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

fn split_authority<'t>(scheme: &str, authority: &'t str) -> Result<(Option<&'t str>, &'t str), Reason> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    check_host(scheme, host)?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if user.is_some_and(|user| !user.chars().all(is_allowed)) {
        return Err("net/url: invalid userinfo".into());
    }
    check_escapes(user.unwrap_or_default())?;
    Ok((user, host))
}

fn check_host(scheme: &str, host: &str) -> Result<(), Reason> {
    if host.rfind('[').is_some_and(|at| at > 0) {
        return Err("invalid IP-literal".into());
    }
    // Hosts of other schemes may be lists of hosts with ports.
    let is_strict = ["http", "https"].iter().any(|strict| scheme.eq_ignore_ascii_case(strict));
    let colon = if is_strict { host.find(':') } else { host.rfind(':') };
    let port = match (host.starts_with('['), host.rfind(']'), colon) {
        (true, None, _) => return Err("missing ']' in host".into()),
        (true, Some(end), _) => &host[end + 1..],
        (false, _, Some(colon)) => &host[colon..],
        (false, _, None) => "",
    };
    let is_port = port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if !port.is_empty() && !is_port {
        return Err(format!("invalid port {} after host", quote(port)).into());
    }
    let is_allowed = |c: &char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(*c);
    if let Some(wrong) = host.chars().find(|c| !is_allowed(c)) {
        return Err(format!("invalid character {} in host name", quote(&wrong.to_string())).into());
    }
    check_escapes(host)?;
    match host.strip_prefix('[').and_then(|host| host.rsplit_once(']')) {
        Some((address, _)) => check_literal(address),
        None => Ok(()),
    }
}

/// Checks a bracketed IPv6 address, which may have a zone.
fn check_literal(literal: &str) -> Result<(), Reason> {
    let address = literal.split_once("%25").map_or(literal, |(address, _)| address);
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V6(_)) => Ok(()),
        Ok(IpAddr::V4(_)) => Err("invalid IP-literal".into()),
        Err(_) => Err(format!("invalid host: ParseAddr({}): unable to parse IP", quote(address)).into()),
    }
}

fn check_escapes(text: &str) -> Result<(), Reason> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    let broken = |at: &usize| bytes[*at] == b'%' && !(is_digit(at + 1) && is_digit(at + 2));
    match (0..bytes.len()).find(broken) {
        Some(at) => {
            let shown = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 3)]);
            Err(format!("invalid URL escape {}", quote(&shown)).into())
        }
        None => Ok(()),
    }
}

const WEBHOOK_FORM: &str = "; desired format: https://host[/path]";

/// The URL of a webhook (upstream `ValidateWebhookURL`).
pub fn webhook_url(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(why) => return vec![FieldError::required(path, format!("url must be a valid URL: {why}{WEBHOOK_FORM}"))],
    };
    let mut errors = Vec::new();
    let mut refuse = |shown: &str, why: String| errors.push(FieldError::invalid(path, shown, why));
    if !url.scheme.eq_ignore_ascii_case("https") {
        let scheme = url.scheme.to_ascii_lowercase();
        refuse(&scheme, format!("'https' is the only allowed URL scheme{WEBHOOK_FORM}"));
    }
    if url.host.is_empty() {
        refuse("", format!("host must be specified{WEBHOOK_FORM}"));
    }
    if let Some(user) = url.user {
        refuse(user, "user information is not permitted in the URL".into());
    }
    if !url.fragment.is_empty() {
        refuse(url.fragment, "fragments are not permitted in the URL".into());
    }
    if !url.query.is_empty() {
        refuse(url.query, "query parameters are not permitted in the URL".into());
    }
    errors
}

/// The service path of a webhook: DNS names separated by slashes (upstream
/// `ValidateWebhookService`).
pub fn webhook_path(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let refuse = |why: String| FieldError::invalid(path, text, why);
    match text {
        "" | "/" => return Vec::new(),
        "//" => return vec![refuse("segment[0] may not be empty".into())],
        _ => {}
    }
    let mut errors = Vec::new();
    if !text.starts_with('/') {
        errors.push(refuse("must start with a '/'".into()));
    }
    // Upstream skips the first byte. Neither a multi-byte character nor the rest of one is a valid
    // name.
    let rest = text.strip_prefix(|first: char| first.is_ascii()).unwrap_or(text);
    for (index, step) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if step.is_empty() {
            errors.push(refuse(format!("segment[{index}] may not be empty")));
            continue;
        }
        errors.extend(is_dns1123_subdomain(step).iter().map(|why| refuse(format!("segment[{index}]: {why}"))));
    }
    errors
}

/// A non-resource path, optionally with a wildcard at its end (upstream
/// `ValidateNonResourceURLPath`).
pub fn non_resource_path(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let wildcards = text.matches('*').count();
    let why = match text {
        "" => "must not be empty",
        "/" => return Vec::new(),
        _ if !text.starts_with('/') => "must start with slash",
        _ if text.contains(' ') => "must not contain white-space",
        _ if text.contains("//") => "must not contain double slash",
        _ if wildcards > 1 || wildcards == 1 && !text.ends_with("/*") => "wildcard can only do suffix matching",
        _ => return Vec::new(),
    };
    vec![FieldError::invalid(path, text, why)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_urls_as_go() {
        let check = |text: &str, expect: Result<(&str, Option<&str>, &str, &str, &str), &str>| {
            let parts = Url::parse(text).map(|url| (url.scheme, url.user, url.host, url.query, url.fragment));
            assert_eq!(parts.map_err(|why| why.to_string()), expect.map_err(String::from), "{text}");
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
        check("https://[x]/", Err(r#"parse "https://[x]/": invalid host: ParseAddr("x"): unable to parse IP"#));
        check("https://[1.2.3.4]/", Err(r#"parse "https://[1.2.3.4]/": invalid IP-literal"#));
        check("https://a:1:2/", Err(r#"parse "https://a:1:2/": invalid port ":1:2" after host"#));
        check("postgres://a:1,b:2/", Ok(("postgres", None, "a:1,b:2", "", "")));
        check("https://a/\n", Err(r#"parse "https://a/\n": net/url: invalid control character in URL"#));
    }

    #[test]
    fn validates_webhook_urls_and_paths() {
        let errors = |check: fn(&Path<'_>, &str) -> Vec<FieldError>, text: &str| {
            check(&Path::new("at"), text).iter().map(FieldError::body).collect::<Vec<_>>()
        };
        assert_eq!(errors(webhook_url, "HTTPS://a.example.com/x"), [""; 0]);
        assert_eq!(errors(webhook_url, "http://u:p@a/?q#f").len(), 4);
        assert_eq!(
            errors(webhook_url, "https:///x"),
            ["Invalid value: \"\": host must be specified; desired format: https://host[/path]"]
        );
        for path in ["", "/", "/a", "/a.b/c/"] {
            assert_eq!(errors(webhook_path, path), [""; 0], "{path}");
        }
        for (path, count) in [("//", 1), ("/a//b", 1), ("a", 2), ("é", 2), ("/A", 1)] {
            assert_eq!(errors(webhook_path, path).len(), count, "{path}");
        }
        for (path, count) in [("/", 0), ("/a/*", 0), ("", 1), ("a", 1), ("/a b", 1), ("/a//b", 1), ("/*/a", 1)] {
            assert_eq!(errors(non_resource_path, path).len(), count, "{path}");
        }
    }

    #[test]
    fn parses_request_targets() {
        for text in ["/a b", "//a b", "http://a/b c", "*", "mailto:x", "urn:", "http://", "/%20", "/a:b"] {
            assert!(Url::parse_request(text).is_ok(), "{text}");
        }
        for text in ["", "a", "a/b", "http://a b/", ":a", "/%", "http://a:x/", "/\u{7f}", "http://[::1"] {
            assert!(Url::parse_request(text).is_err(), "{text}");
        }
    }
}
