//! Bodies that hold values until they are sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{Body, BodyError};

impl Body {
    /// Holds a value until the body is sent or dropped. Has no effect on a body that is completely
    /// in memory.
    pub fn hold<T: Send + 'static>(mut self, guard: T) -> Self {
        if !self.is_whole() {
            self.held.get_or_insert_default().whole.push(Box::new(guard));
        }
        self
    }

    /// Holds a value until the body is first pending: a watch has then sent its initial events.
    pub fn hold_until_begun<T: Send + 'static>(mut self, guard: T) -> Self {
        if !self.is_whole() {
            self.held.get_or_insert_default().beginning.push(Box::new(guard));
        }
        self
    }

    /// Holds a value until the body is sent or dropped, also for a body that is completely in
    /// memory. Such a body is sent in chunks.
    pub fn hold_until_sent<T: Send + Unpin + 'static>(self, guard: T) -> Self {
        match self.known().cloned() {
            Some(left) => Body::layer(Whole { left, _guard: guard }),
            None => self.hold(guard),
        }
    }
}

/// A body in memory that is sent in chunks.
struct Whole<T> {
    left: Bytes,
    _guard: T,
}

/// The size of a chunk. Data is released when it is handed over, before it is sent.
const CHUNK_SIZE: usize = 64 << 10;

impl<T: Unpin> http_body::Body for Whole<T> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let length = self.left.len().min(CHUNK_SIZE);
        Poll::Ready((length > 0).then(|| Ok(Frame::data(self.left.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::StreamExt;
    use http_body_util::{BodyExt, StreamBody};

    use super::*;

    fn is_alive(guard: &Arc<()>) -> bool {
        Arc::strong_count(guard) > 1
    }

    #[tokio::test]
    async fn guards_are_dropped_in_time() {
        let (whole, beginning) = (Arc::new(()), Arc::new(()));
        drop(Body::full("all").hold(whole.clone()).hold_until_begun(beginning.clone()));
        assert!(!is_alive(&whole) && !is_alive(&beginning));
        let events = futures_util::stream::iter([Ok::<_, BodyError>(Frame::data(Bytes::from("event")))]);
        let events = Body::stream(StreamBody::new(events.chain(futures_util::stream::pending())));
        let mut body = events.hold_until_begun(beginning.clone()).hold(whole.clone());
        assert!(body.frame().await.is_some() && is_alive(&whole) && is_alive(&beginning));
        assert!(futures_util::poll!(body.frame()).is_pending() && is_alive(&whole) && !is_alive(&beginning));
        drop(body);
        assert!(!is_alive(&whole));
    }

    #[tokio::test]
    async fn complete_body_is_held_until_its_last_chunk() {
        let guard = Arc::new(());
        let mut body = Body::full(vec![7; CHUNK_SIZE + 1]).hold_until_sent(guard.clone());
        assert_eq!(http_body::Body::size_hint(&body).exact(), Some(CHUNK_SIZE as u64 + 1));
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), CHUNK_SIZE);
        assert!(is_alive(&guard));
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 1);
        assert!(body.frame().await.is_none());
        drop(body);
        assert!(!is_alive(&guard));
    }

    #[tokio::test]
    async fn ended_body_drops_its_guards() {
        for end in [None, Some(Err::<Frame<Bytes>, BodyError>("broken".into()))] {
            let guard = Arc::new(());
            let mut body = Body::stream(StreamBody::new(futures_util::stream::iter(end))).hold(guard.clone());
            assert!(is_alive(&guard));
            assert!(body.frame().await.is_none_or(|frame| frame.is_err()) && !is_alive(&guard));
        }
    }
}
