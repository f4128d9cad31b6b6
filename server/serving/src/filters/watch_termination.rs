//! Ends streams when the server goes down, so that clients see the end of an answer and not a broken connection (upstream:
//! `WithWatchTerminationDuringShutdown`).

use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::body::{Body, BodyError};
use crate::handler::{BoxFuture, Handler, Request, RequestExt, Response};
use crate::shutdown::{Phase, Shutdown};

/// Ends the bodies of watches when the server goes down, spread over a while, so that their clients do not all come back at once.
pub struct WithWatchTermination<H> {
    inner: H,
    shutdown: Shutdown,
    grace: Duration,
    random: RandomState,
    watches: AtomicU64,
}

impl<H> WithWatchTermination<H> {
    /// Listens to this signal; `grace` is the while.
    pub fn new(inner: H, shutdown: Shutdown, grace: Duration) -> Self {
        WithWatchTermination { inner, shutdown, grace, random: RandomState::new(), watches: AtomicU64::new(0) }
    }

    /// Some part of the while.
    fn spread(&self) -> Duration {
        let watch = self.watches.fetch_add(1, Ordering::Relaxed);
        self.grace.mul_f64(self.random.hash_one(watch) as f64 / u64::MAX as f64)
    }
}

/// A body that ends early.
struct Ending {
    body: Body,
    end: BoxFuture<'static, ()>,
    ended: bool,
}

impl http_body::Body for Ending {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        if self.ended || self.end.as_mut().poll(cx).is_ready() {
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
            let response = self.inner.handle(request).await;
            let shutdown = self.shutdown.clone();
            let spread = self.spread();
            let end = Box::pin(async move {
                shutdown.reached(Phase::Refusing).await;
                tokio::time::sleep(spread).await;
            });
            response.map(|body| {
                if http_body::Body::size_hint(&body).exact().is_some() {
                    body
                } else {
                    Body::stream(Ending { body, end, ended: false })
                }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::testing::{request, seen};
    use crate::handler::FromFn;
    use futures_util::StreamExt;
    use http_body_util::StreamBody;

    #[tokio::test]
    async fn a_watch_ends_with_the_server() {
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
}
