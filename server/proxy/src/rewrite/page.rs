//! A response body that rewrites the links of a page while it is sent.

use std::io::{self, BufRead, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use flate2::Compression;
use flate2::bufread::{DeflateDecoder, GzDecoder};
use flate2::write::{DeflateEncoder, GzEncoder};
use http_body::{Body as HttpBody, Frame};
use request::{Body, BodyError};

use super::html::Rewriter;

/// Bytes to rewrite per poll. A poll blocks other requests of the thread.
const PIECE: usize = 16 << 10;

/// The content encoding of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentEncoding {
    Plain,
    Gzip,
    Deflate,
}

/// Received bytes of the encoded page that are not decoded yet.
#[derive(Default)]
struct EncodedInput {
    bytes: Bytes,
    is_complete: bool,
}

impl BufRead for EncodedInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes.is_empty() && !self.is_complete {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(&self.bytes)
    }

    fn consume(&mut self, count: usize) {
        self.bytes.advance(count.min(self.bytes.len()));
    }
}

impl Read for EncodedInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

/// Decodes a page.
enum Decoder {
    Plain(EncodedInput),
    Gzip(Box<GzDecoder<EncodedInput>>),
    Deflate(Box<DeflateDecoder<EncodedInput>>),
}

impl Decoder {
    fn new(encoding: ContentEncoding) -> Self {
        match encoding {
            ContentEncoding::Plain => Decoder::Plain(EncodedInput::default()),
            ContentEncoding::Gzip => Decoder::Gzip(Box::new(GzDecoder::new(EncodedInput::default()))),
            ContentEncoding::Deflate => Decoder::Deflate(Box::new(DeflateDecoder::new(EncodedInput::default()))),
        }
    }

    fn input(&mut self) -> &mut EncodedInput {
        match self {
            Decoder::Plain(input) => input,
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => decoder.get_mut(),
        }
    }

    /// Decodes the next bytes. Returns 0 at the end, and `WouldBlock` if more input is needed.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Plain(input) => input.read(into),
            Decoder::Gzip(decoder) => decoder.read(into),
            Decoder::Deflate(decoder) => decoder.read(into),
        }
    }
}

/// Encodes a page.
enum Encoder {
    Plain(Vec<u8>),
    Gzip(GzEncoder<Vec<u8>>),
    Deflate(DeflateEncoder<Vec<u8>>),
}

impl Encoder {
    fn new(encoding: ContentEncoding) -> Self {
        match encoding {
            ContentEncoding::Plain => Encoder::Plain(Vec::new()),
            ContentEncoding::Gzip => Encoder::Gzip(GzEncoder::new(Vec::new(), Compression::default())),
            ContentEncoding::Deflate => Encoder::Deflate(DeflateEncoder::new(Vec::new(), Compression::best())),
        }
    }

    fn write(&mut self, page: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Plain(out) => out.write_all(page),
            Encoder::Gzip(encoder) => encoder.write_all(page),
            Encoder::Deflate(encoder) => encoder.write_all(page),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Encoder::Plain(_) => Ok(()),
            Encoder::Gzip(encoder) => encoder.try_finish(),
            Encoder::Deflate(encoder) => encoder.try_finish(),
        }
    }

    /// Returns the encoded bytes.
    fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Encoder::Plain(out) => out,
            Encoder::Gzip(encoder) => encoder.get_mut(),
            Encoder::Deflate(encoder) => encoder.get_mut(),
        })
    }
}

/// The body of a rewritten page. It holds at most a window of the page, even if the client is slow.
pub struct Page<A> {
    body: Body,
    decoder: Decoder,
    rewriter: Rewriter<A>,
    encoder: Encoder,
    is_sent: bool,
    /// Whether a piece was rewritten since the last yield.
    must_yield: bool,
}

impl<A: Fn(&str) -> Option<String>> Page<A> {
    pub fn new(body: Body, encoding: ContentEncoding, address: A) -> Self {
        let (decoder, encoder) = (Decoder::new(encoding), Encoder::new(encoding));
        Page { body, decoder, rewriter: Rewriter::new(address), encoder, is_sent: false, must_yield: false }
    }

    /// Rewrites received bytes, up to a piece. Returns false if more input is needed.
    fn rewrite(&mut self) -> io::Result<bool> {
        let mut piece = [0; PIECE];
        let mut rewritten = Vec::new();
        match self.decoder.read(&mut piece) {
            Ok(0) => {
                self.rewriter.finish(&mut rewritten);
                self.encoder.write(&rewritten)?;
                self.encoder.finish()?;
                self.is_sent = true;
            }
            Ok(count) => {
                self.rewriter.push(piece.get(..count).unwrap_or_default(), &mut rewritten);
                self.encoder.write(&rewritten)?;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}

impl<A: Fn(&str) -> Option<String> + Unpin> HttpBody for Page<A> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        if std::mem::take(&mut this.must_yield) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            if this.is_sent {
                return Poll::Ready(None);
            }
            if this.rewrite()? {
                let out = this.encoder.take();
                if !out.is_empty() {
                    this.must_yield = true;
                    return Poll::Ready(Some(Ok(Frame::data(out.into()))));
                }
                if !this.is_sent {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
            match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(frame) => this.decoder.input().bytes = frame?.into_data().unwrap_or_default(),
                None => this.decoder.input().is_complete = true,
            }
        }
    }
}
