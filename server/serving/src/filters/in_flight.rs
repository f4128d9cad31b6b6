//! Limits concurrent requests when priority and fairness is disabled (upstream:
//! `WithMaxInFlightLimit`).

use http::{HeaderValue, header};
use options::RequestOptions;
use request::user::SYSTEM_MASTERS;
use request::{BoxFuture, Handler, Request, RequestExt, Response, respond};
use telemetry::metrics::{GaugeGuard, Metrics, Terminated};
use tokio::sync::Semaphore;

/// Rejects requests above the limits.
///
/// Long-running requests do not count. Members of `system:masters` are exempt, so that
/// administrators can inspect an overloaded server.
pub struct WithMaxInFlight<H> {
    inner: H,
    reads: Limit,
    writes: Limit,
}

struct Limit {
    permits: Option<std::sync::Arc<Semaphore>>,
    in_flight: prometheus::IntGauge,
}

impl<H> WithMaxInFlight<H> {
    /// Creates the filter with the limits of the flags.
    pub fn new(inner: H, options: &RequestOptions, metrics: &Metrics) -> Self {
        let limit = |permits: usize, kind: &str| Limit {
            permits: (permits > 0).then(|| Semaphore::new(permits.min(Semaphore::MAX_PERMITS)).into()),
            in_flight: metrics.in_flight(kind),
        };
        WithMaxInFlight {
            inner,
            reads: limit(options.max_in_flight, "readOnly"),
            writes: limit(options.max_mutating_in_flight, "mutating"),
        }
    }
}

impl<H: Handler> Handler for WithMaxInFlight<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let Some(info) = request.info().filter(|info| !info.is_long_running()) else {
            return self.inner.handle(request);
        };
        let limit = if info.is_read_only() { &self.reads } else { &self.writes };
        let exempt = request.user().is_some_and(|user| user.is_in(SYSTEM_MASTERS));
        Box::pin(async move {
            let permit = match &limit.permits {
                Some(permits) if !exempt => match permits.clone().try_acquire_owned() {
                    Ok(permit) => Some(permit),
                    Err(_) => return too_many(1),
                },
                _ => None,
            };
            let counted = GaugeGuard::new(&limit.in_flight);
            self.inner.handle(request).await.map(|body| body.hold((permit, counted)))
        })
    }
}

/// The message of a rejected request.
pub(super) const TOO_MANY: &str = "Too many requests, please try again later.";

/// The response to a rejected request, with `Retry-After` in seconds.
pub fn too_many(retry_after: u64) -> Response {
    let mut response = respond::text_error(429, TOO_MANY);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
    response.extensions_mut().insert(Terminated);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use options::Options;
    use request::User;
    use request::testing::{BlockedHandler, request_by};
    use std::sync::Arc;
    use tokio::sync::Notify;

    fn read(group: &str) -> Request {
        request_by(User::new("alice", [group]), "GET", "/api/v1/pods")
    }

    #[tokio::test]
    async fn rejects_requests_above_limit() {
        let release = Arc::new(Notify::new());
        let flags = ["kube-apiserver", "--max-requests-inflight=1", "--enable-priority-and-fairness=false"];
        let options = Options::parse_from(flags).unwrap();
        let filter = WithMaxInFlight::new(BlockedHandler(release.clone()), &options.requests, &Metrics::default());
        let mut first = filter.handle(read("dev"));
        assert!(futures_util::poll!(&mut first).is_pending());
        let second = filter.handle(read("dev")).await;
        assert_eq!((second.status().as_u16(), second.headers()["retry-after"].as_bytes()), (429, &b"1"[..]));
        for exempt in [
            read("system:masters"),
            request_by(User::default(), "POST", "/api/v1/pods"),
            request_by(User::default(), "GET", "/api/v1/pods?watch=1"),
        ] {
            assert!(futures_util::poll!(filter.handle(exempt)).is_pending());
        }
        release.notify_one();
        assert_eq!(first.await.status(), 200);
        release.notify_one();
        assert_eq!(filter.handle(read("dev")).await.status(), 200);
    }
}
