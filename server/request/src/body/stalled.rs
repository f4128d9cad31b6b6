//! A deadline for responses that the client does not read.
//!
//! A body is not polled while its client does not read, so it cannot notice the stall itself. A
//! task checks periodically whether the body was polled. If not, it drops the inner body with its
//! buffers, backend connection, and guards.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{Body, BodyError};

impl Body {
    /// Fails the body when its client has read nothing for `after`, at the latest after twice that
    /// time. A pending body does not count as stalled. Must be called within a runtime.
    pub fn end_when_stalled(self, after: Duration) -> Self {
        if self.is_whole() {
            return self;
        }
        let shared = Arc::new(Shared {
            body: Mutex::new(Some(self)),
            polls: AtomicU64::new(0),
            has_more: AtomicBool::new(true),
        });
        tokio::spawn(watch(Arc::downgrade(&shared), after));
        Body::layer(Watched(shared))
    }
}

struct Shared {
    body: Mutex<Option<Body>>,
    polls: AtomicU64,
    /// Whether the last poll returned a frame, so that the next step is the client's.
    has_more: AtomicBool,
}

/// Drops the body when it was not polled between two checks.
async fn watch(shared: Weak<Shared>, after: Duration) {
    let mut seen = None;
    loop {
        tokio::time::sleep(after).await;
        let Some(shared) = shared.upgrade() else { return };
        let polls = shared.polls.load(Ordering::Acquire);
        if seen == Some(polls) && shared.has_more.load(Ordering::Acquire) {
            drop(shared.body.lock().unwrap_or_else(PoisonError::into_inner).take());
            return;
        }
        seen = Some(polls);
    }
}

struct Watched(Arc<Shared>);

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let shared = &self.0;
        let mut body = shared.body.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(inner) = body.as_mut() else {
            return Poll::Ready(Some(Err("the client has read nothing for too long".into())));
        };
        shared.polls.fetch_add(1, Ordering::AcqRel);
        let polled = Pin::new(inner).poll_frame(context);
        shared.has_more.store(polled.is_ready(), Ordering::Release);
        let frame = ready!(polled);
        if frame.as_ref().is_none_or(Result::is_err) {
            *body = None;
        }
        Poll::Ready(frame)
    }

    fn size_hint(&self) -> SizeHint {
        let body = self.0.body.lock().unwrap_or_else(PoisonError::into_inner);
        body.as_ref().map(http_body::Body::size_hint).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use http_body_util::{BodyExt, StreamBody};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    fn endless() -> Body {
        let frame = || Ok::<_, BodyError>(Frame::data(Bytes::from("piece")));
        Body::stream(StreamBody::new(futures_util::stream::repeat_with(frame)))
    }

    #[tokio::test(start_paused = true)]
    async fn drops_body_that_client_does_not_read() {
        let guard = Arc::new(());
        let mut body = endless().hold(guard.clone()).end_when_stalled(LIMIT);
        for _ in 0..10 {
            assert!(body.frame().await.unwrap().is_ok());
            tokio::time::sleep(LIMIT / 2).await;
        }
        assert_eq!(Arc::strong_count(&guard), 2, "a slow client is no stalled one");
        tokio::time::sleep(2 * LIMIT).await;
        assert_eq!(Arc::strong_count(&guard), 1);
        assert!(body.frame().await.unwrap().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_body_that_waits_for_backend() {
        let guard = Arc::new(());
        let first = futures_util::stream::iter([Ok::<_, BodyError>(Frame::data(Bytes::from("piece")))]);
        let body = Body::stream(StreamBody::new(first.chain(futures_util::stream::pending())));
        let mut body = body.hold(guard.clone()).end_when_stalled(LIMIT);
        assert!(body.frame().await.unwrap().is_ok());
        assert!(futures_util::poll!(body.frame()).is_pending());
        tokio::time::sleep(10 * LIMIT).await;
        assert_eq!(Arc::strong_count(&guard), 2);
    }
}
