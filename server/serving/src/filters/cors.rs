//! Allows cross-origin requests (upstream: `WithCORS`).

use http::{HeaderValue, Method, StatusCode, header};
use regex::Regex;
use request::{Body, BoxFuture, Handler, Request, Response};

use crate::Error;

const METHODS: HeaderValue = HeaderValue::from_static("POST, GET, OPTIONS, PUT, DELETE, PATCH");
const HEADERS: HeaderValue = HeaderValue::from_static(
    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
);

/// Adds the CORS headers, and replies to preflight requests.
pub struct WithCors<H> {
    inner: H,
    origins: Vec<Regex>,
}

impl<H> WithCors<H> {
    /// Compiles the patterns of the flag. Each must be pinned to the beginning and the end of the
    /// host, as upstream requires. An unpinned pattern allows all origins that contain a match.
    ///
    /// # Errors
    /// A pattern is malformed, or is not pinned.
    pub fn new(inner: H, patterns: &[String]) -> Result<Self, Error> {
        let origin = |pattern: &String| {
            let pinned = (pattern.starts_with('^') || pattern.starts_with("//"))
                && (pattern.ends_with('$') || pattern.ends_with(':'));
            if !pinned {
                return Err(Error::UnpinnedOrigin { pattern: pattern.clone() });
            }
            Ok(Regex::new(pattern)?)
        };
        Ok(WithCors { inner, origins: patterns.iter().map(origin).collect::<Result<_, _>>()? })
    }

    fn allowed(&self, request: &Request) -> Option<HeaderValue> {
        let origin = request.headers().get(header::ORIGIN)?;
        let text = origin.to_str().ok()?;
        self.origins.iter().any(|pattern| pattern.is_match(text)).then(|| origin.clone())
    }
}

fn add_headers(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Date"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
}

impl<H: Handler> Handler for WithCors<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let Some(origin) = self.allowed(&request) else { return self.inner.handle(request) };
        Box::pin(async move {
            let mut response = match *request.method() {
                Method::OPTIONS => {
                    let mut preflight = Response::new(Body::empty());
                    *preflight.status_mut() = StatusCode::NO_CONTENT;
                    preflight
                }
                _ => self.inner.handle(request).await,
            };
            add_headers(&mut response, origin);
            response
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{ok, request};

    async fn answer(method: &str, origin: &str) -> (u16, Option<String>) {
        let filter = WithCors::new(ok(), &["^https://example[.]com$".to_owned()]).unwrap();
        let mut request = request(method, "/version");
        request.headers_mut().insert(header::ORIGIN, origin.parse().unwrap());
        let response = filter.handle(request).await;
        let allowed =
            response.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).map(|v| v.to_str().unwrap().to_owned());
        (response.status().as_u16(), allowed)
    }

    #[tokio::test]
    async fn origins() {
        assert_eq!(answer("GET", "https://example.com").await, (200, Some("https://example.com".into())));
        assert_eq!(answer("GET", "https://example.org").await, (200, None));
        assert_eq!(answer("OPTIONS", "https://example.com").await, (204, Some("https://example.com".into())));
        assert_eq!(answer("OPTIONS", "https://example.org").await, (200, None));
    }

    #[test]
    fn patterns_are_pinned() {
        assert!(WithCors::new((), &["example.com".to_owned()]).is_err());
        assert!(WithCors::new((), &["^https://(".to_owned()]).is_err());
        assert!(WithCors::new((), &["//localhost:".to_owned()]).is_ok());
    }
}
