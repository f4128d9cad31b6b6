//! Ends streams when the server goes down, so that clients see the end of an answer and not a broken connection (upstream:
//! `WithWatchTerminationDuringShutdown`).

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::body::{Body, BodyError};
use crate::handler::{BoxFuture, Handler, Request, RequestExt, Response};
use crate::shutdown::{Phase, Shutdown};

/// Ends the bodies of watches when the server drains.
pub struct WithWatchTermination<H> {
    inner: H,
    shutdown: Shutdown,
}

impl<H> WithWatchTermination<H> {
    /// Listens to this signal.
    pub fn new(inner: H, shutdown: Shutdown) -> Self {
        WithWatchTermination { inner, shutdown }
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
            let end = Box::pin(async move { shutdown.reached(Phase::Draining).await });
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
        let filter = WithWatchTermination::new(handler, shutdown.clone());
        let answer = filter.handle(request("GET", "/api/v1/pods?watch=1")).await;
        shutdown.advance(Phase::Draining);
        assert_eq!(seen(answer).await, (200, "event".into()));
    }
}
