//! What handlers leave of the bodies of requests. Over HTTP/1.1 the next request stands behind it, so it is read when it is little, and the
//! connection can go on (Go: `maxPostHandlerReadBytes`).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::EXPECT;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::body::Body;
use crate::handler::Request;

/// The most that is read.
const MOST: u64 = 256 << 10;

/// Takes back what a handler did not read.
#[derive(Clone, Default)]
pub(super) struct Leftover(Arc<Mutex<Option<Incoming>>>);

/// A body that is given back when it is dropped.
struct DrainOnDrop {
    body: Option<Incoming>,
    to: Leftover,
}

impl Leftover {
    /// A request whose body is to be given back; none for what has no body, for a long one, and for a client that waits to be told to send
    /// it.
    pub fn of(request: hyper::Request<Incoming>) -> (Request, Option<Self>) {
        let body = request.body();
        let is_lent = request.version() < http::Version::HTTP_2
            && !body.is_end_stream()
            && body.size_hint().lower() <= MOST
            && !request.headers().contains_key(EXPECT);
        if !is_lent {
            return (request.map(Body::from), None);
        }
        let leftover = Leftover::default();
        let to = leftover.clone();
        (request.map(|body| Body::stream(DrainOnDrop { body: Some(body), to })), Some(leftover))
    }

    /// Reads what was left, if that is not much.
    pub async fn drain(self) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = left else { return };
        let mut allowed = MOST;
        while let Some(Ok(frame)) = body.frame().await {
            match allowed.checked_sub(frame.data_ref().map_or(0, Bytes::len) as u64) {
                Some(rest) => allowed = rest,
                None => return,
            }
        }
    }
}

impl http_body::Body for DrainOnDrop {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(http_body::Body::size_hint).unwrap_or_default()
    }
}

impl Drop for DrainOnDrop {
    fn drop(&mut self) {
        let left = self.body.take().filter(|body| !body.is_end_stream());
        *self.to.0.lock().unwrap_or_else(PoisonError::into_inner) = left;
    }
}
