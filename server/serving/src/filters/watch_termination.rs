//! Ends watches at shutdown, so that clients see the end of a response and not a broken connection.
//!
//! Upstream: `WithWatchTerminationDuringShutdown`.

use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use request::{Body, BodyError, BoxFuture, Handler, Request, RequestExt, Response};
use tokio::sync::watch;

use crate::listener::{WatchResponse, body_polled};
use crate::shutdown::{Phase, Shutdown};

/// Ends the bodies of watches at shutdown, spread over a grace period, so that their clients do not
/// all reconnect at once.
pub struct WithWatchTermination<H> {
    inner: H,
    shutdown: Shutdown,
    grace: Duration,
    random: RandomState,
    watches: AtomicU64,
}

impl<H> WithWatchTermination<H> {
    /// Creates the filter with this shutdown signal and grace period.
    pub fn new(inner: H, shutdown: Shutdown, grace: Duration) -> Self {
        WithWatchTermination { inner, shutdown, grace, random: RandomState::new(), watches: AtomicU64::new(0) }
    }

    /// A random part of the grace period.
    fn spread(&self) -> Duration {
        let watch = self.watches.fetch_add(1, Ordering::Relaxed);
        self.grace.mul_f64(self.random.hash_one(watch) as f64 / u64::MAX as f64)
    }
}

/// A body that ends early at shutdown.
struct Ending {
    body: Body,
    phases: watch::Receiver<Phase>,
    end: BoxFuture<'static, ()>,
    /// The task that `end` wakes.
    waiting: Option<Waker>,
    /// Whether the shutdown had begun before this watch: no phase change will end it then.
    is_late: bool,
    ended: bool,
}

impl Ending {
    /// Ready when the watch is to end. All watches wait on the same notification and are polled
    /// after each event, so `end` is polled only after a change.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let is_known = self.waiting.as_ref().is_some_and(|waiting| waiting.will_wake(context.waker()));
        if is_known && !self.is_late && self.phases.has_changed().is_ok_and(|changed| !changed) {
            return Poll::Pending;
        }
        self.waiting = Some(context.waker().clone());
        self.end.as_mut().poll(context)
    }
}

impl http_body::Body for Ending {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        body_polled();
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        if self.ended || self.poll_end(cx).is_ready() {
            self.ended = true;
            return Poll::Ready(None);
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl<H: Handler> Handler for WithWatchTermination<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        if request.info().is_none_or(|info| info.verb != "watch") {
            return self.inner.handle(request);
        }
        Box::pin(async move {
            let mut response = self.inner.handle(request).await;
            if http_body::Body::size_hint(response.body()).exact().is_some() {
                return response;
            }
            response.extensions_mut().insert(WatchResponse);
            let (shutdown, spread) = (self.shutdown.clone(), self.spread());
            let phases = shutdown.phases();
            let is_late = *phases.borrow() >= Phase::Refusing;
            let end = Box::pin(async move {
                shutdown.reached(Phase::Refusing).await;
                tokio::time::sleep(spread).await;
            });
            response.map(|body| Body::layer(Ending { body, phases, end, waiting: None, is_late, ended: false }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt;
    use http_body_util::StreamBody;
    use request::handler::FromFn;
    use request::testing::{request, seen};

    #[tokio::test]
    async fn watch_ends_at_shutdown() {
        let shutdown = Shutdown::default();
        let events = || {
            futures_util::stream::iter([Ok::<_, BodyError>(Frame::data(Bytes::from("event")))])
                .chain(futures_util::stream::pending())
        };
        let handler = FromFn(move |_| Response::new(Body::stream(StreamBody::new(events()))));
        let filter = WithWatchTermination::new(handler, shutdown.clone(), Duration::ZERO);
        let answer = filter.handle(request("GET", "/api/v1/pods?watch=1")).await;
        shutdown.advance(Phase::Refusing);
        assert_eq!(seen(answer).await, (200, "event".into()));
    }

    #[tokio::test]
    async fn pending_watch_is_woken_by_each_phase() {
        let shutdown = Shutdown::default();
        let silent = || StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, BodyError>>());
        let handler = FromFn(move |_| Response::new(Body::stream(silent())));
        let filter = WithWatchTermination::new(handler, shutdown.clone(), Duration::ZERO);
        let answer = filter.handle(request("GET", "/api/v1/pods?watch=1")).await;
        assert!(answer.extensions().get::<WatchResponse>().is_some());
        let end = tokio::spawn(seen(answer));
        for phase in [Phase::Initiated, Phase::Refusing] {
            tokio::task::yield_now().await;
            shutdown.advance(phase);
        }
        assert_eq!(end.await.unwrap(), (200, String::new()));
    }

    #[tokio::test]
    async fn watch_started_during_shutdown_ends() {
        let shutdown = Shutdown::default();
        shutdown.advance(Phase::Refusing);
        let silent = || StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, BodyError>>());
        let handler = FromFn(move |_| Response::new(Body::stream(silent())));
        let filter = WithWatchTermination::new(handler, shutdown, Duration::from_millis(20));
        for _ in 0..8 {
            let answer = filter.handle(request("GET", "/api/v1/pods?watch=1")).await;
            assert_eq!(seen(answer).await, (200, String::new()));
        }
    }
}
