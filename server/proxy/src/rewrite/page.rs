//! A page whose links are replaced while it is sent.

use std::io::{self, BufRead, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use flate2::Compression;
use flate2::bufread::{DeflateDecoder, GzDecoder};
use flate2::write::{DeflateEncoder, GzEncoder};
use http_body::{Body as HttpBody, Frame};
use serving::Body;
use serving::body::BodyError;

use super::html::Rewriter;

/// How much of a page is rewritten at a time. Other requests wait for as long as that takes.
const PIECE: usize = 16 << 10;

/// How a page is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Plain,
    Gzip,
    Deflate,
}

/// The page as its backend sends it: what has arrived and was not read yet.
#[derive(Default)]
struct Arrived {
    bytes: Bytes,
    is_whole: bool,
}

impl BufRead for Arrived {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.bytes.is_empty() && !self.is_whole {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(&self.bytes)
    }

    fn consume(&mut self, count: usize) {
        self.bytes.advance(count.min(self.bytes.len()));
    }
}

impl Read for Arrived {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

/// Takes a page out of its encoding.
enum Decoder {
    Plain(Arrived),
    Gzip(Box<GzDecoder<Arrived>>),
    Deflate(Box<DeflateDecoder<Arrived>>),
}

impl Decoder {
    fn new(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Plain => Decoder::Plain(Arrived::default()),
            Encoding::Gzip => Decoder::Gzip(Box::new(GzDecoder::new(Arrived::default()))),
            Encoding::Deflate => Decoder::Deflate(Box::new(DeflateDecoder::new(Arrived::default()))),
        }
    }

    fn arrived(&mut self) -> &mut Arrived {
        match self {
            Decoder::Plain(arrived) => arrived,
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => decoder.get_mut(),
        }
    }

    /// The next bytes of the page: none at its end, an error of the kind `WouldBlock` before more has arrived.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Plain(arrived) => arrived.read(into),
            Decoder::Gzip(decoder) => decoder.read(into),
            Decoder::Deflate(decoder) => decoder.read(into),
        }
    }
}

/// Puts a page back into its encoding.
enum Encoder {
    Plain(Vec<u8>),
    Gzip(GzEncoder<Vec<u8>>),
    Deflate(DeflateEncoder<Vec<u8>>),
}

impl Encoder {
    fn new(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Plain => Encoder::Plain(Vec::new()),
            Encoding::Gzip => Encoder::Gzip(GzEncoder::new(Vec::new(), Compression::default())),
            Encoding::Deflate => Encoder::Deflate(DeflateEncoder::new(Vec::new(), Compression::best())),
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

    /// What is ready to be sent.
    fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Encoder::Plain(out) => out,
            Encoder::Gzip(encoder) => encoder.get_mut(),
            Encoder::Deflate(encoder) => encoder.get_mut(),
        })
    }
}

/// The body of a page with other links. It holds no more of the page than a window, however slow its reader is.
pub struct Page<A> {
    body: Body,
    decoder: Decoder,
    rewriter: Rewriter<A>,
    encoder: Encoder,
    is_sent: bool,
    /// A piece was rewritten: others have their turn before the next one.
    had_its_turn: bool,
}

impl<A: Fn(&str) -> Option<String>> Page<A> {
    pub fn new(body: Body, encoding: Encoding, address: A) -> Self {
        let (decoder, encoder) = (Decoder::new(encoding), Encoder::new(encoding));
        Page { body, decoder, rewriter: Rewriter::new(address), encoder, is_sent: false, had_its_turn: false }
    }

    /// Rewrites what has arrived, up to a piece. False when more has to arrive first.
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
        if std::mem::take(&mut this.had_its_turn) {
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
                    this.had_its_turn = true;
                    return Poll::Ready(Some(Ok(Frame::data(out.into()))));
                }
                if !this.is_sent {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
            match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(frame) => this.decoder.arrived().bytes = frame?.into_data().unwrap_or_default(),
                None => this.decoder.arrived().is_whole = true,
            }
        }
    }
}
