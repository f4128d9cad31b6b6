//! Compression of large responses (upstream: `deferredResponseWriter`).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, HeaderValue, VARY};
use http_body::{Body as HttpBody, Frame};
use request::{Body, BodyError, Response, User};
use serving::work::memory::HeldMemory;
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Status};

/// Responses up to this many bytes are not compressed.
const THRESHOLD: u64 = 128 << 10;
/// Input bytes per compression step.
const CHUNK: usize = 64 << 10;
/// The fastest level. Higher levels save little.
const LEVEL: i32 = 1;
/// The largest window, with the header and trailer of gzip.
const WINDOW: i32 = 16 + 15;

/// Whether the client accepts gzip. As upstream, a token with a parameter (`gzip;q=1`) does not
/// match.
pub fn is_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|token| token.trim() == "gzip")
}

/// Memory in bytes of a compressor: windows, tables and the output of one chunk.
const MEMORY: u64 = (384 << 10) + CHUNK as u64;
/// Input bytes to compress before yielding to other requests of the thread.
const YIELD_AFTER: usize = 4 * CHUNK;

/// Compresses a large response, or a streamed one of unknown size. While its user holds too much
/// memory, the response is sent uncompressed.
pub fn compress(response: Response, user: &Arc<User>) -> Response {
    let size = response.body().size_hint();
    if size.exact().is_some_and(|bytes| bytes <= THRESHOLD) || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let mut held = HeldMemory::default();
    if held.add(user, MEMORY).is_err() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let config = DeflateConfig { level: LEVEL, window_bits: WINDOW, ..DeflateConfig::default() };
    let compressed = CompressedBody {
        body,
        waiting: Bytes::new(),
        deflate: Deflate::new_with_config(config),
        is_ended: false,
        since_yield: 0,
        _held: held,
    };
    Response::from_parts(parts, Body::stream(compressed))
}

/// A body that is compressed while it is read.
struct CompressedBody {
    body: Body,
    /// Bytes of the inner body that are not compressed yet.
    waiting: Bytes,
    deflate: Deflate,
    is_ended: bool,
    /// Bytes compressed since the last yield.
    since_yield: usize,
    _held: HeldMemory,
}

impl CompressedBody {
    /// Compresses the input, or finishes the stream.
    fn write(&mut self, mut input: &[u8], flush: DeflateFlush, out: &mut Vec<u8>) -> Result<(), BodyError> {
        loop {
            let at = out.len();
            out.resize(at + input.len() / 2 + 4096, 0);
            let (read, written) = (self.deflate.total_in(), self.deflate.total_out());
            let status = self.deflate.compress(input, &mut out[at..], flush).map_err(|e| e.as_str())?;
            let count = |from: u64, to: u64| usize::try_from(to - from).unwrap_or_default();
            input = input.get(count(read, self.deflate.total_in())..).unwrap_or_default();
            let written = count(written, self.deflate.total_out());
            let is_full = at + written == out.len();
            out.truncate(at + written);
            let is_done = if flush == DeflateFlush::Finish { status == Status::StreamEnd } else { !is_full };
            if input.is_empty() && is_done {
                return Ok(());
            }
        }
    }
}

impl HttpBody for CompressedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.since_yield >= YIELD_AFTER {
            self.since_yield = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut out = Vec::new();
        while out.is_empty() && !self.is_ended {
            if self.waiting.is_empty() {
                match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                    Some(Ok(frame)) => self.waiting = frame.into_data().unwrap_or_default(),
                    Some(Err(broken)) => return Poll::Ready(Some(Err(broken))),
                    None => {
                        self.is_ended = true;
                        self.write(&[], DeflateFlush::Finish, &mut out)?;
                        break;
                    }
                }
            }
            let length = self.waiting.len().min(CHUNK);
            self.since_yield += length;
            let input = self.waiting.split_to(length);
            self.write(&input, DeflateFlush::NoFlush, &mut out)?;
        }
        Poll::Ready((!out.is_empty()).then(|| Ok(Frame::data(out.into()))))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn accepts_only_plain_gzip() {
        let check = |header: &'static str, expect: bool| {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(header))]);
            assert_eq!(is_accepted(&headers), expect, "{header}");
        };
        check("gzip", true);
        check("deflate, gzip, br", true);
        check("gzip;q=1.0", false);
        check("identity", false);
        assert!(!is_accepted(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn compresses_only_large_responses() {
        for (length, is_compressed) in [(0, false), (1 << 17, false), ((1 << 17) + 1, true), (3_000_001, true)] {
            let text: Vec<u8> = (0..length).map(|i: usize| b"abcdefgh"[i * i / 7 % 8]).collect();
            let response = compress(Response::new(Body::full(text.clone())), &Arc::default());
            assert_eq!(response.headers().contains_key(CONTENT_ENCODING), is_compressed, "{length}");
            let sent = response.into_body().read(usize::MAX).await.unwrap();
            let mut read = Vec::new();
            match is_compressed {
                true => flate2::read::GzDecoder::new(&sent[..]).read_to_end(&mut read).map(drop).unwrap(),
                false => read.extend_from_slice(&sent),
            }
            assert!(read == text && (!is_compressed || sent.len() < length / 2), "{length}");
        }
    }
}
