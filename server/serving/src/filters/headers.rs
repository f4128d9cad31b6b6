//! Default response headers (upstream: `WithCacheControl`, `WithHSTS`).

use http::{HeaderValue, header};
use request::{BoxFuture, Handler, Request, Response};

/// Sets `Cache-Control` unless the handler has set it, and `Strict-Transport-Security` if
/// directives are configured.
pub struct WithDefaultHeaders<H> {
    inner: H,
    hsts: Option<HeaderValue>,
}

impl<H> WithDefaultHeaders<H> {
    /// `hsts_directives` are those of the flag, such as `max-age=31536000`.
    pub fn new(inner: H, hsts_directives: &[String]) -> Self {
        let hsts = HeaderValue::from_str(&hsts_directives.join("; ")).ok().filter(|v| !v.is_empty());
        WithDefaultHeaders { inner, hsts }
    }
}

impl<H: Handler> Handler for WithDefaultHeaders<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(async move {
            let mut response = self.inner.handle(request).await;
            let headers = response.headers_mut();
            headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, private"));
            if let Some(hsts) = &self.hsts {
                headers.insert(header::STRICT_TRANSPORT_SECURITY, hsts.clone());
            }
            response
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::Body;
    use request::handler::FromFn;
    use request::testing::request;

    async fn header(set: Option<&'static str>, hsts: &[&str], name: &str) -> Option<String> {
        let handler = FromFn(move |_| {
            let mut response = Response::new(Body::empty());
            if let Some(value) = set {
                response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
            }
            response
        });
        let hsts: Vec<String> = hsts.iter().map(|d| (*d).to_owned()).collect();
        let response = WithDefaultHeaders::new(handler, &hsts).handle(request("GET", "/")).await;
        response.headers().get(name).map(|v| v.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn handler_may_override_cache_control() {
        assert_eq!(header(None, &[], "cache-control").await.unwrap(), "no-cache, private");
        assert_eq!(header(Some("public, max-age=3600"), &[], "cache-control").await.unwrap(), "public, max-age=3600");
    }

    #[tokio::test]
    async fn hsts_header_follows_configuration() {
        assert_eq!(header(None, &[], "strict-transport-security").await, None);
        let directives = ["max-age=31536000", "includeSubDomains"];
        assert_eq!(
            header(None, &directives, "strict-transport-security").await.unwrap(),
            "max-age=31536000; includeSubDomains"
        );
    }
}
