//! The destination of a proxied request.

use http::Uri;
use machinery::status::Status;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that a path does not escape (Go: `url.EscapedPath` of a path without `RawPath`).
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// Escapes a decoded path (Go: `URL.EscapedPath`).
pub fn escape_path(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

/// A backend and a path on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// `http` or `https`.
    pub scheme: &'static str,
    /// Host name or address, without the brackets of IPv6.
    pub host: String,
    /// Empty for the default port of the scheme.
    pub port: String,
    /// Unescaped.
    pub path: String,
    /// Escaped; empty for none.
    pub query: String,
    /// Bandwidth limit in each direction after a protocol upgrade; none if unlimited.
    pub bytes_per_second: Option<u64>,
}

impl Location {
    /// Returns `host` or `host:port`, as in a URL.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port.is_empty() { host } else { format!("{host}:{}", self.port) }
    }

    /// Returns the escaped path.
    pub fn escaped_path(&self) -> String {
        escape_path(&self.path)
    }

    /// Returns the URI of the location.
    ///
    /// # Errors
    /// Returns an error if host or port are invalid in a URI.
    pub fn uri(&self) -> Result<Uri, Status> {
        let path = self.escaped_path();
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mark = if self.query.is_empty() { "" } else { "?" };
        let text = format!("{}://{}{slash}{path}{mark}{}", self.scheme, self.authority(), self.query);
        text.parse().map_err(|why| Status::new(500, "", format!("parse {text:?}: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_uris() {
        let check = |host: &str, port: &str, path: &str, query: &str, expect: &str| {
            let (host, port) = (host.to_owned(), port.to_owned());
            let location = Location {
                scheme: "http",
                host,
                port,
                path: path.to_owned(),
                query: query.to_owned(),
                ..Location::default()
            };
            assert_eq!(location.uri().unwrap().to_string(), expect);
        };
        check("10.0.0.1", "", "", "", "http://10.0.0.1/");
        check("10.0.0.1", "8080", "/a b/ü?", "q=1", "http://10.0.0.1:8080/a%20b/%C3%BC%3F?q=1");
        check("fd00::1", "80", "/", "", "http://[fd00::1]:80/");
    }
}
