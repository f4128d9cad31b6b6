//! Where a request is passed on to.

use http::Uri;
use machinery::status::Status;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What need not be escaped in a path (Go: `url.EscapedPath` of a path that was never written down).
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

/// A decoded path with the escapes of a URL (Go: `URL.EscapedPath`).
pub fn escape_path(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

/// A place behind this server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// `http` or `https`.
    pub scheme: &'static str,
    /// Name or address, without the brackets of IPv6.
    pub host: String,
    /// Empty: the scheme's own.
    pub port: String,
    /// Not escaped.
    pub path: String,
    /// Escaped; empty for none.
    pub query: String,
    /// How fast it may be spoken with, each way, once HTTP is no longer spoken; none: as fast as it goes.
    pub bytes_per_second: Option<u64>,
}

impl Location {
    /// `host` or `host:port`, as it stands in a URL.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port.is_empty() { host } else { format!("{host}:{}", self.port) }
    }

    /// The path as it stands in a URL.
    pub fn escaped_path(&self) -> String {
        escape_path(&self.path)
    }

    /// The place as an address to send requests to.
    ///
    /// # Errors
    /// When host or port cannot stand in an address.
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
    fn places_as_addresses() {
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
