//! Rejects new requests during shutdown (upstream: `WithRetryAfter`, `WithWaitGroup`).

use std::sync::Arc;

use http::{HeaderValue, header};
use request::{BoxFuture, Handler, Peer, Request, RequestExt, Response, respond};

use crate::shutdown::{Phase, Shutdown};

/// Health check paths, which are served during shutdown too.
const EXEMPT: [&str; 3] = ["/readyz", "/livez", "/healthz"];

/// Counts requests in flight. After the start of the shutdown delay, replies 429 to new ones and
/// closes their connections.
pub struct WithRetryAfter<H> {
    inner: H,
    shutdown: Shutdown,
}

impl<H> WithRetryAfter<H> {
    /// Creates the filter with this shutdown signal.
    pub fn new(inner: H, shutdown: Shutdown) -> Self {
        WithRetryAfter { inner, shutdown }
    }
}

impl<H: Handler> Handler for WithRetryAfter<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        if EXEMPT.iter().any(|prefix| request.path().starts_with(prefix)) {
            return self.inner.handle(request);
        }
        if self.shutdown.phase() >= Phase::Refusing {
            return Box::pin(std::future::ready(reject(&request)));
        }
        let in_flight = self.shutdown.enter();
        let is_stream = request.info().is_some_and(|info| info.is_long_running());
        Box::pin(async move {
            let response = self.inner.handle(request).await;
            match is_stream {
                true => response,
                false => response.map(|body| body.hold(in_flight)),
            }
        })
    }
}

fn reject(request: &Request) -> Response {
    let mut response = respond::text_error(429, "The apiserver is shutting down, please try again later.");
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    match request.extensions().get::<Arc<Peer>>() {
        Some(peer) if request.version() == http::Version::HTTP_2 => peer.close(),
        _ => drop(response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"))),
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{BlockedHandler, request};
    use std::time::Duration;
    use tokio::sync::Notify;

    #[tokio::test(start_paused = true)]
    async fn rejects_new_requests_while_old_ones_finish() {
        let (shutdown, release) = (Shutdown::default(), Arc::new(Notify::new()));
        let filter = WithRetryAfter::new(BlockedHandler(release.clone()), shutdown.clone());
        let mut old = filter.handle(request("GET", "/api/v1/pods"));
        assert!(futures_util::poll!(&mut old).is_pending());
        let drained = tokio::spawn({
            let shutdown = shutdown.clone();
            async move { shutdown.drain_after(Duration::from_secs(5), Duration::from_secs(60)).await }
        });
        shutdown.initiate();
        shutdown.reached(Phase::Refusing).await;
        let new = filter.handle(request("GET", "/api/v1/pods")).await;
        assert_eq!((new.status().as_u16(), &new.headers()["retry-after"]), (429, &HeaderValue::from_static("5")));
        assert_eq!(new.headers()["connection"], "close");
        assert!(futures_util::poll!(filter.handle(request("GET", "/readyz"))).is_pending());
        assert_eq!(shutdown.phase(), Phase::Refusing);
        release.notify_one();
        assert_eq!(old.await.status(), 200);
        drained.await.unwrap();
        assert_eq!(shutdown.phase(), Phase::Draining);
    }
}
