//! Serves a document in memory like Go's net/http: with preconditions and a single range
//! (`http.ServeContent`).

use std::ops::Range;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use request::{Body, Response};

/// A request for a document.
#[derive(Clone)]
pub(crate) struct DocumentRequest {
    pub method: Method,
    pub headers: HeaderMap,
    /// The `hash` query parameter: the requested state of the document; empty for any.
    pub hash: String,
}

/// Serves a document with its media type and ETag.
pub(super) fn serve(
    requested: &DocumentRequest,
    etag: &str,
    content_type: &'static str,
    body: impl FnOnce() -> Vec<u8>,
) -> Response {
    let mut response = conditional(requested, etag).unwrap_or_else(|| part(&requested.headers, content_type, body()));
    insert(&mut response, header::ETAG, etag);
    response
}

/// Returns the response if the preconditions exclude the document (`checkPreconditions`).
fn conditional(requested: &DocumentRequest, etag: &str) -> Option<Response> {
    let is_read = matches!(requested.method, Method::GET | Method::HEAD);
    let of = |name: HeaderName| requested.headers.get(name).filter(|value| !value.is_empty());
    if of(header::IF_MATCH).is_some_and(|tags| !names(tags, etag, false)) {
        return Some(empty(StatusCode::PRECONDITION_FAILED));
    }
    let is_known = of(header::IF_NONE_MATCH).is_some_and(|tags| names(tags, etag, true));
    is_known.then(|| empty(if is_read { StatusCode::NOT_MODIFIED } else { StatusCode::PRECONDITION_FAILED }))
}

/// Whether a list of tags contains this one; `*` matches any. Weak tags match only if `weak`.
fn names(tags: &HeaderValue, etag: &str, weak: bool) -> bool {
    let tags = tags.to_str().unwrap_or_default();
    tags.split(',')
        .map(str::trim)
        .any(|tag| tag == "*" || tag == etag || (weak && tag.strip_prefix("W/") == Some(etag)))
}

/// Returns the document, or the requested range of it. Multiple ranges are ignored.
fn part(headers: &HeaderMap, content_type: &'static str, body: Vec<u8>) -> Response {
    let size = body.len();
    let range = headers.get(header::RANGE).and_then(|value| value.to_str().ok()).filter(|value| !value.contains(','));
    let (status, body) = match range.map(|text| range_of(text, size)) {
        None => (StatusCode::OK, body),
        Some(Some(range)) => {
            let mut response = document(StatusCode::PARTIAL_CONTENT, content_type, body[range.clone()].to_vec());
            let content = format!("bytes {}-{}/{size}", range.start, range.end - 1);
            insert(&mut response, header::CONTENT_RANGE, &content);
            return response;
        }
        Some(None) => {
            let mut response = request::respond::text_error(416, "invalid range");
            insert(&mut response, header::CONTENT_RANGE, &format!("bytes */{size}"));
            return response;
        }
    };
    document(status, content_type, body)
}

/// Parses `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-LENGTH`. Returns nothing if the range is
/// empty.
fn range_of(text: &str, size: usize) -> Option<Range<usize>> {
    let (first, last) = text.strip_prefix("bytes=")?.trim().split_once('-')?;
    let range = match (first, last) {
        ("", length) => size.saturating_sub(length.parse().ok()?)..size,
        (first, "") => first.parse().ok()?..size,
        (first, last) => first.parse().ok()?..last.parse::<usize>().ok()?.saturating_add(1).min(size),
    };
    Some(range).filter(|range| !range.is_empty())
}

fn document(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A response without a body.
pub(super) fn empty(code: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = code;
    response
}

/// Sets a header.
pub(super) fn insert(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: Method, name: HeaderName, value: &'static str) -> u16 {
        let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
        let requested = DocumentRequest { method, headers, hash: String::new() };
        serve(&requested, "\"a\"", "application/json", || b"{\"paths\":{}}".to_vec()).status().as_u16()
    }

    #[test]
    fn checks_preconditions_like_go() {
        for (method, name, value, expect) in [
            (Method::GET, header::IF_NONE_MATCH, "\"b\", W/\"a\"", 304),
            (Method::POST, header::IF_NONE_MATCH, "*", 412),
            (Method::GET, header::IF_NONE_MATCH, "\"b\"", 200),
            (Method::GET, header::IF_MATCH, "\"b\"", 412),
            (Method::GET, header::IF_MATCH, "*", 200),
            (Method::GET, header::RANGE, "bytes=0-1", 206),
            (Method::GET, header::RANGE, "bytes=90-", 416),
            (Method::GET, header::RANGE, "bytes=0-1,3-4", 200),
        ] {
            assert_eq!(status(method, name.clone(), value), expect, "{name}: {value}");
        }
        assert_eq!(range_of("bytes=-2", 12), Some(10..12));
        assert_eq!(range_of("bytes=5-99", 12), Some(5..12));
    }
}
