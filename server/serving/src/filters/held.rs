//! What is held for as long as an answer is sent, and let go at its end.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::body::{Body, BodyError};

/// A body that holds two things: one until it has been sent, and one until it has begun, which is when it first has to wait: a watch has then
/// sent what there was.
struct Holding<W, B> {
    body: Body,
    whole: Option<W>,
    beginning: Option<B>,
}

/// Holds something until the body has been sent or given up. Nothing is held for a body that is known as a whole.
pub fn until_sent<W: Send + Unpin + 'static>(body: Body, held: W) -> Body {
    until_begun(body, held, None::<()>)
}

/// The same, and something else until the body first has to wait for what it sends.
pub fn until_begun<W, B>(body: Body, whole: W, beginning: B) -> Body
where
    W: Send + Unpin + 'static,
    B: Send + Unpin + 'static,
{
    if body.is_whole() {
        return body;
    }
    Body::layer(Holding { body, whole: Some(whole), beginning: Some(beginning) })
}

impl<W: Unpin, B: Unpin> http_body::Body for Holding<W, B> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match polled {
            Poll::Pending => self.beginning = None,
            Poll::Ready(None | Some(Err(_))) => (self.whole, self.beginning) = (None, None),
            Poll::Ready(Some(Ok(_))) => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt;
    use http_body_util::{BodyExt, StreamBody};
    use std::sync::Arc;

    #[tokio::test]
    async fn things_are_let_go_in_time() {
        let (whole, beginning) = (Arc::new(()), Arc::new(()));
        let held = |thing: &Arc<()>| Arc::strong_count(thing) > 1;
        drop(until_begun(Body::full("all"), whole.clone(), beginning.clone()));
        assert!(!held(&whole) && !held(&beginning));
        let events = futures_util::stream::iter([Ok::<_, BodyError>(Frame::data(Bytes::from("event")))]);
        let events = Body::stream(StreamBody::new(events.chain(futures_util::stream::pending())));
        let mut body = until_begun(events, whole.clone(), beginning.clone());
        assert!(body.frame().await.is_some() && held(&whole) && held(&beginning));
        assert!(futures_util::poll!(body.frame()).is_pending() && held(&whole) && !held(&beginning));
        drop(body);
        assert!(!held(&whole));
    }
}
