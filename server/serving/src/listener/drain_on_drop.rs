//! Drains request bodies that handlers did not read.
//!
//! Over HTTP/1.1 the next request follows the body. A short rest is read, so that the connection
//! can be reused (Go: `maxPostHandlerReadBytes`).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::EXPECT;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use request::{Body, Request};

/// The maximum that is read.
const MAX_DRAIN: u64 = 256 << 10;

/// Takes back the unread rest of a body from its handler.
#[derive(Clone, Default)]
pub(super) struct UnreadBody(Arc<Mutex<Option<Incoming>>>);

/// A body that returns its rest when it is dropped.
struct DrainOnDrop {
    body: Option<Incoming>,
    to: UnreadBody,
}

impl UnreadBody {
    /// Wraps the body of a request.
    ///
    /// Returns `None` if there is nothing to drain: no body, a long one, or a client that waits for
    /// `100 Continue`.
    pub fn of(request: hyper::Request<Incoming>) -> (Request, Option<Self>) {
        let body = request.body();
        let is_drainable = request.version() < http::Version::HTTP_2
            && !body.is_end_stream()
            && body.size_hint().lower() <= MAX_DRAIN
            && !request.headers().contains_key(EXPECT);
        if !is_drainable {
            return (request.map(Body::from), None);
        }
        let unread = UnreadBody::default();
        let to = unread.clone();
        (request.map(|body| Body::stream(DrainOnDrop { body: Some(body), to })), Some(unread))
    }

    /// Reads the rest of the body, up to the maximum.
    pub async fn drain(self) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = left else { return };
        let mut allowed = MAX_DRAIN;
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
