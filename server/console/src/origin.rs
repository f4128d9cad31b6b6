//! Whether a request comes from a page of this server.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue};
use request::Request;

/// The header that carries the page's half of a session. A browser sends it to another origin only
/// if that origin allows it (CORS); a form or a link cannot set it.
pub const KEY: HeaderName = HeaderName::from_static("x-console-key");
/// The relation between the page and this server, as the browser knows it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The text of a header; empty without it.
pub fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).map(HeaderValue::to_str).and_then(Result::ok).unwrap_or_default()
}

/// Whether the request has the header of the page, and the browser does not report another origin.
pub fn is_own(request: &Request) -> bool {
    let headers = request.headers();
    if text(headers, &KEY).is_empty() {
        return false;
    }
    if headers.contains_key(SEC_FETCH_SITE) {
        return text(headers, &SEC_FETCH_SITE) == "same-origin";
    }
    // Older browsers and other clients.
    let authority = request.uri().authority().map_or_else(|| text(headers, &HOST), |authority| authority.as_str());
    !headers.contains_key(ORIGIN) || text(headers, &ORIGIN).strip_prefix("https://") == Some(authority)
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::request;

    fn own(headers: &[(&'static str, &'static str)]) -> bool {
        let mut request = request("GET", "/ui/server/api");
        for (name, value) in headers {
            request.headers_mut().insert(*name, HeaderValue::from_static(value));
        }
        is_own(&request)
    }

    #[test]
    fn rejects_requests_of_other_origins() {
        let (key, host) = (("x-console-key", "k"), ("host", "127.0.0.1:6443"));
        assert!(own(&[key]));
        assert!(own(&[key, ("sec-fetch-site", "same-origin")]));
        assert!(own(&[key, host, ("origin", "https://127.0.0.1:6443")]));
        assert!(!own(&[]));
        assert!(!own(&[("x-console-key", "")]));
        assert!(!own(&[("sec-fetch-site", "same-origin")]));
        for site in ["same-site", "cross-site", "none", ""] {
            assert!(!own(&[key, ("sec-fetch-site", site)]), "{site}");
        }
        for origin in ["https://127.0.0.1:9999", "http://127.0.0.1:6443", "null", "https://evil.example"] {
            assert!(!own(&[key, host, ("origin", origin)]), "{origin}");
        }
    }
}
