//! The body type of requests and responses.
//!
//! Nearly all traffic is either a complete body in memory or one that hyper reads from a
//! connection. Both are represented without a box; all others (watches, proxied streams) are boxed.

mod held;
mod hold;
mod stalled;

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use machinery::budget::Exceeded;

use held::Held;

/// How much of an oversized body is read and discarded, so that the client receives the response.
const DRAIN_LIMIT: usize = 16 << 20;

/// The error that ends a body early.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a [`crate::Request`] or a [`crate::Response`].
pub struct Body {
    kind: Kind,
    held: Option<Box<Held>>,
}

enum Kind {
    Empty,
    Full(Bytes),
    Incoming(Incoming),
    Boxed(Pin<Box<dyn http_body::Body<Data = Bytes, Error = BodyError> + Send>>),
}

/// The error of reading a complete body.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The body exceeds the limit.
    #[error("request entity too large: limit is {limit}")]
    TooLarge { limit: usize },
    /// The memory budget of request bodies is exhausted.
    #[error(transparent)]
    NoMemory(#[from] Exceeded),
    /// The connection broke, or its content is not a valid body.
    #[error("reading the body: {0}")]
    Broken(#[source] BodyError),
}

impl Body {
    const fn of(kind: Kind) -> Self {
        Body { kind, held: None }
    }

    /// A body without bytes.
    pub const fn empty() -> Self {
        Body::of(Kind::Empty)
    }

    /// A body that is completely in memory.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Body::of(if bytes.is_empty() { Kind::Empty } else { Kind::Full(bytes) })
    }

    /// A streamed body.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        Body::layer(body.map_err(Into::into))
    }

    /// Wraps a body that already has the right types. Each layer is polled for every frame of a
    /// watch, so it adds no adapter.
    pub fn layer<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error = BodyError> + Send + 'static,
    {
        Body::of(Kind::Boxed(Box::pin(body)))
    }

    /// The bytes of a body that is completely in memory.
    pub fn known(&self) -> Option<&Bytes> {
        match &self.kind {
            Kind::Full(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Whether the body is empty or completely in memory.
    pub fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Empty | Kind::Full(_))
    }

    /// Reads the complete body. Discards the data as soon as it exceeds `limit` bytes.
    pub async fn read(self, limit: usize) -> Result<Bytes, ReadError> {
        self.read_counted(limit, |_| Ok(())).await
    }

    /// Reads the complete body; `count` gets the total length before more is stored, and may reject
    /// it.
    pub async fn read_counted(
        mut self,
        limit: usize,
        mut count: impl FnMut(usize) -> Result<(), Exceeded>,
    ) -> Result<Bytes, ReadError> {
        let too_large = || ReadError::TooLarge { limit };
        if http_body::Body::size_hint(&self).lower() > limit as u64 {
            self.drain().await;
            return Err(too_large());
        }
        let mut first = Bytes::new();
        let mut all: Option<BytesMut> = None;
        while let Some(frame) = self.frame().await {
            let Ok(data) = frame.map_err(ReadError::Broken)?.into_data() else { continue };
            if first.len().max(all.as_ref().map_or(0, BytesMut::len)) + data.len() > limit {
                self.drain().await;
                return Err(too_large());
            }
            if let Err(exceeded) = count(first.len().max(all.as_ref().map_or(0, BytesMut::len)) + data.len()) {
                self.drain().await;
                return Err(exceeded.into());
            }
            match &mut all {
                Some(all) => all.extend_from_slice(&data),
                None if first.is_empty() => first = data,
                None => all = Some(joined(&first, &data)),
            }
        }
        Ok(all.map_or(first, BytesMut::freeze))
    }
}

impl Body {
    /// Reads and discards the rest, up to a limit. A client that is still sending when the
    /// connection closes does not see the response.
    async fn drain(&mut self) {
        let mut left = DRAIN_LIMIT;
        while let (true, Some(Ok(frame))) = (left > 0, self.frame().await) {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        }
    }
}

fn joined(first: &[u8], second: &[u8]) -> BytesMut {
    let mut all = BytesMut::with_capacity((first.len() + second.len()) * 2);
    all.extend_from_slice(first);
    all.extend_from_slice(second);
    all
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = match &mut self.kind {
            Kind::Empty => Poll::Ready(None),
            Kind::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                self.kind = Kind::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Kind::Incoming(body) => Pin::new(body).poll_frame(cx).map_err(Into::into),
            Kind::Boxed(body) => body.as_mut().poll_frame(cx),
        };
        if self.held.as_mut().is_some_and(|held| held.release(&polled)) {
            self.held = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Full(_) => false,
            Kind::Incoming(body) => body.is_end_stream(),
            Kind::Boxed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Incoming(body) => body.size_hint(),
            Kind::Boxed(body) => body.size_hint(),
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Body::empty()
    }
}

impl From<Incoming> for Body {
    fn from(body: Incoming) -> Self {
        Body::of(Kind::Incoming(body))
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Body::full(bytes)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Body::full(bytes)
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Body::full(text)
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Body::full(text)
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.kind {
            Kind::Empty => "Body::empty",
            Kind::Full(_) => "Body::full",
            Kind::Incoming(_) => "Body::incoming",
            Kind::Boxed(_) => "Body::stream",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::StreamBody;

    fn pieces(pieces: &[&'static str]) -> Body {
        let frames: Vec<Result<Frame<Bytes>, BodyError>> =
            pieces.iter().map(|p| Ok(Frame::data(Bytes::from(*p)))).collect();
        Body::stream(StreamBody::new(futures_util::stream::iter(frames)))
    }

    #[tokio::test]
    async fn reads_up_to_its_limit() {
        assert_eq!(Body::empty().read(0).await.unwrap(), "");
        assert_eq!(Body::full("abc").read(3).await.unwrap(), "abc");
        assert_eq!(pieces(&["ab", "", "cd", "e"]).read(5).await.unwrap(), "abcde");
        for body in [Body::full("abcd"), pieces(&["ab", "cd"]), pieces(&["abcd"])] {
            assert!(matches!(body.read(3).await, Err(ReadError::TooLarge { limit: 3 })));
        }
    }

    #[test]
    fn knows_its_size() {
        use http_body::Body as _;
        assert!(Body::full("").is_end_stream());
        assert_eq!(Body::full("abc").size_hint().exact(), Some(3));
    }
}
