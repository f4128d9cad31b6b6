//! How many requests are served at a time (upstream: `WithMaxInFlightLimit`, and the limit that priority and fairness shares out).

use std::time::Duration;

use http::{HeaderValue, header};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::handler::{BoxFuture, Handler, Request, RequestExt, Response};
use crate::metrics::Metrics;
use crate::options::RequestOptions;
use crate::respond;
use crate::user::SYSTEM_MASTERS;

/// Lets requests above a limit wait for a while, or turns them away. Streams do not count; neither do members of `system:masters`, who
/// must be able to look at a server that is overrun.
pub struct WithMaxInFlight<H> {
    inner: H,
    reads: Limit,
    writes: Limit,
    wait: Duration,
}

struct Limit {
    places: Option<Semaphore>,
    in_flight: prometheus::IntGauge,
}

impl<H> WithMaxInFlight<H> {
    /// The limits of the flags. With priority and fairness, a request waits up to a quarter of its time for a place.
    pub fn new(inner: H, options: &RequestOptions, metrics: &Metrics) -> Self {
        let limit = |places: usize, kind: &str| Limit {
            places: (places > 0).then(|| Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
            in_flight: metrics.in_flight(kind),
        };
        WithMaxInFlight {
            inner,
            reads: limit(options.max_in_flight, "readOnly"),
            writes: limit(options.max_mutating_in_flight, "mutating"),
            wait: if options.priority_and_fairness { options.request_timeout / 4 } else { Duration::ZERO },
        }
    }

    async fn place<'a>(&self, places: &'a Semaphore) -> Option<SemaphorePermit<'a>> {
        match places.try_acquire() {
            Ok(place) => Some(place),
            Err(_) if self.wait.is_zero() => None,
            Err(_) => tokio::time::timeout(self.wait, places.acquire()).await.ok()?.ok(),
        }
    }
}

/// Counts a request while it is served.
struct Counted<'a>(&'a prometheus::IntGauge);

impl<'a> Counted<'a> {
    fn new(gauge: &'a prometheus::IntGauge) -> Self {
        gauge.inc();
        Counted(gauge)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dec();
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
            let _place = match &limit.places {
                Some(places) if !exempt => match self.place(places).await {
                    Some(place) => Some(place),
                    None => return too_many(),
                },
                _ => None,
            };
            let _counted = Counted::new(&limit.in_flight);
            self.inner.handle(request).await
        })
    }
}

fn too_many() -> Response {
    let mut response = respond::text_error(429, "Too many requests, please try again later.");
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use crate::filters::testing::request_by;
    use crate::options::Options;
    use crate::user::User;
    use std::sync::Arc;
    use tokio::sync::Notify;

    /// Answers when told to.
    struct Held(Arc<Notify>);

    impl Handler for Held {
        fn handle(&self, _: Request) -> BoxFuture<'_, Response> {
            Box::pin(async {
                self.0.notified().await;
                Response::new(Body::empty())
            })
        }
    }

    fn filter(flags: &[&str], release: &Arc<Notify>) -> WithMaxInFlight<Held> {
        let options = Options::parse_from(std::iter::once(&"kube-apiserver").chain(flags)).unwrap();
        WithMaxInFlight::new(Held(Arc::clone(release)), &options.requests, &Metrics::default())
    }

    fn read(group: &str) -> Request {
        request_by(User::new("alice", [group]), "GET", "/api/v1/pods")
    }

    #[tokio::test]
    async fn too_many_are_turned_away() {
        let release = Arc::new(Notify::new());
        let filter = filter(&["--max-requests-inflight=1", "--enable-priority-and-fairness=false"], &release);
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

    #[tokio::test(start_paused = true)]
    async fn or_wait_for_a_place() {
        let release = Arc::new(Notify::new());
        let filter = filter(&["--max-requests-inflight=1"], &release);
        let mut first = filter.handle(read("dev"));
        assert!(futures_util::poll!(&mut first).is_pending());
        let mut second = filter.handle(read("dev"));
        assert!(futures_util::poll!(&mut second).is_pending());
        let begin = tokio::time::Instant::now();
        assert_eq!(second.await.status(), 429);
        assert_eq!(begin.elapsed().as_secs(), 15);
    }
}
