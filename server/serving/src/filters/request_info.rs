//! Parses request paths and queries before all other filters (upstream: `WithRequestInfo`).

use std::sync::Arc;

use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HeaderValue};
use http::{Method, StatusCode, Version};
use machinery::status::Status;
use request::request_info::PathError;
use request::{Body, BoxFuture, Handler, Request, RequestInfo, Response, respond};

/// Puts the [`RequestInfo`] into the extensions.
pub struct WithRequestInfo<H>(pub H);

impl<H: Handler> Handler for WithRequestInfo<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let response = match RequestInfo::new(request.method(), request.uri()) {
            Err(PathError::Escape) => respond::bytes(400, respond::TEXT, "400 Bad Request"),
            _ if has_unknown_expectation(&request) => expectation_failed(),
            Ok(info) => {
                request.extensions_mut().insert(Arc::new(info));
                return match *request.method() {
                    Method::HEAD => Box::pin(async move { without_body(self.0.handle(request).await) }),
                    _ => self.0.handle(request),
                };
            }
            Err(error) => {
                respond::failure(&request, &Status::internal(format!("failed to create RequestInfo: {error}")))
            }
        };
        Box::pin(std::future::ready(response))
    }
}

/// Whether an HTTP/1 request has an expectation other than `100-continue`, which Go's net/http
/// rejects.
fn has_unknown_expectation(request: &Request) -> bool {
    let Some(expected) = request.headers().get(EXPECT).map(HeaderValue::as_bytes) else { return false };
    let is_known = |token: &[u8]| token.trim_ascii().eq_ignore_ascii_case(b"100-continue");
    request.version() <= Version::HTTP_11 && !expected.is_empty() && !expected.split(|b| *b == b',').any(is_known)
}

/// The 417 response, after which the connection ends (`response.sendExpectationFailed` of Go's
/// net/http).
fn expectation_failed() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::EXPECTATION_FAILED;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Removes the body of a response to HEAD; HTTP/2 clients treat one as a protocol error.
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = http_body::Body::size_hint(&body).exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert(length.into());
    }
    Response::from_parts(parts, Body::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{failure, ok};

    async fn answer(uri: &str) -> (u16, String) {
        let request = http::Request::get(uri).body(Body::empty()).unwrap();
        failure(WithRequestInfo(ok()).handle(request).await).await
    }

    #[tokio::test]
    async fn head_response_has_no_body() {
        let request = http::Request::head("/api").body(Body::empty()).unwrap();
        let response = WithRequestInfo(ok()).handle(request).await;
        assert_eq!(response.headers()[CONTENT_LENGTH], "2");
        assert_eq!(failure(response).await, (200, String::new()));
    }

    #[tokio::test]
    async fn rejects_invalid_paths() {
        assert_eq!(answer("/api/v1/pods").await, (200, "ok".into()));
        assert_eq!(answer("/a%zz").await.0, 400);
        let (code, message) = answer("/api/v1/watch").await;
        assert_eq!(code, 500);
        assert_eq!(
            message,
            "Internal error occurred: failed to create RequestInfo: unable to determine kind and namespace from url, /api/v1/watch"
        );
    }

    #[tokio::test]
    async fn rejects_unknown_expectations() {
        for (path, expectation, expect) in [
            ("/api", "100-Continue", 200),
            ("/api", "200-ok", 417),
            ("/api", "200-ok, 100-continue", 200),
            ("/api/v1/watch", "200-ok", 417),
            ("/a%zz", "200-ok", 400),
        ] {
            let request = http::Request::get(path).header(EXPECT, expectation).body(Body::empty()).unwrap();
            let response = WithRequestInfo(ok()).handle(request).await;
            assert_eq!(response.status().as_u16(), expect, "{path} {expectation}");
        }
    }
}
