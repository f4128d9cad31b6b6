//! The timeout of requests (upstream: `WithRequestDeadline`,
//! `WithTimeoutForNonLongRunningRequests`).

use std::time::Duration;

use machinery::scalar::ScalarError;
use machinery::status::Status;
use request::{BoxFuture, Handler, Query, Request, RequestExt, Response, respond};
use telemetry::metrics::Terminated;
use tokio::time::Instant;

use super::audit::reject;
use super::deadline::Deadline;

/// The body that upstream's timeout writes: a Status without kind. Upstream sets no content type;
/// Go detects text.
const TIMED_OUT: &str = "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"Timeout: request did not complete within the allotted timeout\",\
                         \"reason\":\"Timeout\",\"details\":{},\"code\":504}\n";

/// Replies 504 when a handler exceeds the timeout, and drops its future. Long-running requests have
/// no timeout.
pub struct WithTimeout<H> {
    inner: H,
    limit: Duration,
}

impl<H> WithTimeout<H> {
    /// `limit` is the default and the maximum.
    pub fn new(inner: H, limit: Duration) -> Self {
        WithTimeout { inner, limit }
    }

    /// The timeout parameter, limited to the maximum.
    fn wanted(&self, query: &Query) -> Result<Duration, ScalarError> {
        let text = query.text("timeout");
        if text.is_empty() {
            return Ok(self.limit);
        }
        let wanted = machinery::scalar::Duration::parse(text)?.nanos();
        Ok(if wanted <= 0 { self.limit } else { self.limit.min(Duration::from_nanos(wanted.unsigned_abs())) })
    }
}

impl<H: Handler> Handler for WithTimeout<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        if request.info().is_some_and(|info| info.is_long_running()) {
            return self.inner.handle(request);
        }
        let wanted = match self.wanted(request.query()) {
            Ok(wanted) => wanted,
            Err(why) => {
                let status = Status::bad_request(format!("invalid timeout specified in the request URL - {why}"));
                return Box::pin(async move { reject(request, &status).await });
            }
        };
        let deadline = Instant::now() + wanted;
        request.extensions_mut().insert(Deadline(deadline));
        Box::pin(async move {
            // The timer has a resolution of one millisecond; shorter timeouts would not fire.
            if wanted < Duration::from_millis(1) {
                return timed_out();
            }
            tokio::time::timeout_at(deadline, self.inner.handle(request)).await.unwrap_or_else(|_| timed_out())
        })
    }
}

fn timed_out() -> Response {
    let mut response = respond::bytes(504, respond::TEXT, TIMED_OUT);
    response.extensions_mut().insert(Terminated);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use request::testing::{failure, ok, request};

    struct Never;

    impl Handler for Never {
        fn handle(&self, _: Request) -> BoxFuture<'_, Response> {
            Box::pin(std::future::pending())
        }
    }

    async fn answer(handler: impl Handler, uri: &str) -> (u16, String) {
        failure(WithTimeout::new(handler, Duration::from_secs(60)).handle(request("GET", uri)).await).await
    }

    #[tokio::test]
    async fn validates_timeout_parameter() {
        for uri in [
            "/x",
            "/x?timeout=5s",
            "/x?timeout=",
            "/x?timeout=0",
            "/x?timeout=-1s",
            "/x?timeout=100h",
            "/api/v1/pods?watch=1&timeout=abc",
        ] {
            assert_eq!(answer(ok(), uri).await.0, 200, "{uri}");
        }
        for (uri, why) in
            [("/x?timeout=5", "missing unit in duration \"5\""), ("/x?timeout=abc", "invalid duration \"abc\"")]
        {
            assert_eq!(
                answer(ok(), uri).await,
                (400, format!("invalid timeout specified in the request URL - time: {why}"))
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn replies_504_to_slow_handlers() {
        let begin = Instant::now();
        let (code, message) = answer(Never, "/x?timeout=5s").await;
        assert_eq!((code, message.as_str()), (504, "Timeout: request did not complete within the allotted timeout"));
        assert_eq!(begin.elapsed().as_secs(), 5);
        assert_eq!(answer(Never, "/x").await.0, 504);
        assert_eq!(begin.elapsed().as_secs(), 65);
        assert_eq!(answer(ok(), "/x?timeout=1ns").await.0, 504);
    }
}
