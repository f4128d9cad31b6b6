//! What is held for as long as an answer is sent, and let go at its end.

use std::any::Any;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{Body, BodyError};

type Thing = Box<dyn Any + Send>;

/// Not a body around a body: a watch is asked for each event, and would be asked through all of them.
#[derive(Default)]
pub(super) struct Held {
    whole: Vec<Thing>,
    beginning: Vec<Thing>,
}

impl Held {
    /// Lets go what is not to be held after the body has said this; whether that is all.
    pub fn let_go<F>(&mut self, polled: &Poll<Option<Result<F, BodyError>>>) -> bool {
        match polled {
            Poll::Pending => {
                self.beginning.clear();
                false
            }
            Poll::Ready(Some(Ok(_))) => false,
            Poll::Ready(None | Some(Err(_))) => true,
        }
    }
}

impl Body {
    /// Holds something until the body has been sent or given up. Nothing is held for a body that is known as a whole.
    pub fn hold<T: Send + 'static>(mut self, thing: T) -> Self {
        if !self.is_whole() {
            self.held.get_or_insert_default().whole.push(Box::new(thing));
        }
        self
    }

    /// Holds something until the body first has to wait for what it sends: a watch has then sent what there was.
    pub fn hold_until_begun<T: Send + 'static>(mut self, thing: T) -> Self {
        if !self.is_whole() {
            self.held.get_or_insert_default().beginning.push(Box::new(thing));
        }
        self
    }
}

impl Body {
    /// Holds something until the body has been sent or given up, also for a body that is known as a whole: such a
    /// body is then sent piece by piece.
    pub fn hold_until_sent<T: Send + Unpin + 'static>(self, thing: T) -> Self {
        match self.known().cloned() {
            Some(left) => Body::layer(Whole { left, _thing: thing }),
            None => self.hold(thing),
        }
    }
}

/// A body that is known as a whole and sent in pieces.
struct Whole<T> {
    left: Bytes,
    _thing: T,
}

/// As much of a body is handed over at a time: more would be let go before it is sent.
const PIECE: usize = 64 << 10;

impl<T: Unpin> http_body::Body for Whole<T> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let length = self.left.len().min(PIECE);
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

    fn is_held(thing: &Arc<()>) -> bool {
        Arc::strong_count(thing) > 1
    }

    #[tokio::test]
    async fn things_are_let_go_in_time() {
        let (whole, beginning) = (Arc::new(()), Arc::new(()));
        drop(Body::full("all").hold(whole.clone()).hold_until_begun(beginning.clone()));
        assert!(!is_held(&whole) && !is_held(&beginning));
        let events = futures_util::stream::iter([Ok::<_, BodyError>(Frame::data(Bytes::from("event")))]);
        let events = Body::stream(StreamBody::new(events.chain(futures_util::stream::pending())));
        let mut body = events.hold_until_begun(beginning.clone()).hold(whole.clone());
        assert!(body.frame().await.is_some() && is_held(&whole) && is_held(&beginning));
        assert!(futures_util::poll!(body.frame()).is_pending() && is_held(&whole) && !is_held(&beginning));
        drop(body);
        assert!(!is_held(&whole));
    }

    #[tokio::test]
    async fn a_whole_body_is_held_until_its_last_piece() {
        let thing = Arc::new(());
        let mut body = Body::full(vec![7; PIECE + 1]).hold_until_sent(thing.clone());
        assert_eq!(http_body::Body::size_hint(&body).exact(), Some(PIECE as u64 + 1));
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), PIECE);
        assert!(is_held(&thing));
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 1);
        assert!(body.frame().await.is_none());
        drop(body);
        assert!(!is_held(&thing));
    }

    #[tokio::test]
    async fn a_body_that_has_ended_holds_nothing() {
        for end in [None, Some(Err::<Frame<Bytes>, BodyError>("broken".into()))] {
            let thing = Arc::new(());
            let mut body = Body::stream(StreamBody::new(futures_util::stream::iter(end))).hold(thing.clone());
            assert!(is_held(&thing));
            assert!(body.frame().await.is_none_or(|frame| frame.is_err()) && !is_held(&thing));
        }
    }
}
