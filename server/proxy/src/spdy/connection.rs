//! A SPDY connection: its reader and writer tasks, and its streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};
use zlib_rs::{Deflate, DeflateFlush};

use super::dictionary::{append, dictionary};
use super::frame::{self, FrameType, HEAD, Head};
use super::{ACCEPT_TIMEOUT, SpdyError};

/// Capacity of the queue of frames to write, and of the queue of received pieces of a stream.
const WAITING: usize = 16;
/// Maximum bytes per read of a frame.
const PIECE: usize = 32 << 10;
/// Ping interval. Pings keep intermediaries from closing an idle connection.
const PING_EVERY: Duration = Duration::from_secs(5);
const LEVEL: i32 = 6;
const WINDOW_BITS: u8 = 15;

/// A connection on which this side opens all streams. Dropping it closes the connection.
pub struct SpdyConnection {
    frames: mpsc::Sender<Bytes>,
    streams: Streams,
    /// The headers of all streams share one compression context.
    deflate: Deflate,
    next: u32,
    tasks: JoinSet<()>,
}

/// An accepted stream.
pub struct Stream {
    /// Received bytes. The channel closes when the other side ends its half.
    pub received: mpsc::Receiver<Bytes>,
    pub writer: StreamWriter,
}

/// The sending half of a stream.
#[derive(Clone)]
pub struct StreamWriter {
    stream: u32,
    frames: mpsc::Sender<Bytes>,
}

/// The streams that the other side can send on, by number.
#[derive(Clone, Default)]
struct Streams(Arc<Mutex<HashMap<u32, Open>>>);

struct Open {
    /// Completed when the other side accepts the stream; dropped when it rejects it.
    accepted: Option<oneshot::Sender<()>>,
    received: mpsc::Sender<Bytes>,
}

impl SpdyConnection {
    /// Starts the reader and writer tasks.
    ///
    /// # Errors
    /// Returns an error if the header compression cannot be initialized.
    pub fn start(io: impl AsyncRead + AsyncWrite + Send + 'static) -> Result<Self, SpdyError> {
        let (reading, writing) = tokio::io::split(io);
        let (frames, waiting) = mpsc::channel(WAITING);
        let streams = Streams::default();
        let mut deflate = Deflate::new(LEVEL, true, WINDOW_BITS);
        deflate.set_dictionary(&dictionary()).map_err(|why| SpdyError::Headers(why.as_str()))?;
        let mut tasks = JoinSet::new();
        tasks.spawn(read(BufReader::new(reading), streams.clone(), frames.clone()));
        tasks.spawn(write(writing, waiting));
        Ok(SpdyConnection { frames, streams, deflate, next: 1, tasks })
    }

    /// Opens a stream of a type, and waits until the other side accepts it.
    ///
    /// # Errors
    /// Returns an error if the stream is reset, the connection is closed, or the wait times out.
    pub async fn open(&mut self, stream_type: &str) -> Result<Stream, SpdyError> {
        let stream = self.next;
        self.next += 2;
        let (accepted, is_accepted) = oneshot::channel();
        let (to_reader, received) = mpsc::channel(WAITING);
        self.streams.lock().insert(stream, Open { accepted: Some(accepted), received: to_reader });
        let headers = self.headers(&[("streamtype", stream_type)])?;
        self.frames.send(frame::syn_stream(stream, &headers)).await.map_err(|_| SpdyError::Closed)?;
        match timeout(ACCEPT_TIMEOUT, is_accepted).await {
            Ok(Ok(())) => Ok(Stream { received, writer: StreamWriter { stream, frames: self.frames.clone() } }),
            Ok(Err(_)) => Err(SpdyError::Reset),
            Err(_) => Err(SpdyError::Timeout),
        }
    }

    /// Sends GOAWAY and closes the connection.
    pub async fn close(mut self) {
        let _ = self.frames.send(frame::go_away()).await;
        let _ = self.frames.send(Bytes::new()).await;
        // Waits for the writer, or for the reader if the other side closed first. The other task
        // ends with `self`.
        self.tasks.join_next().await;
    }

    fn headers(&mut self, headers: &[(&str, &str)]) -> Result<Vec<u8>, SpdyError> {
        let mut plain = (headers.len() as u32).to_be_bytes().to_vec();
        for (name, value) in headers {
            append(&mut plain, name);
            append(&mut plain, value);
        }
        let mut out = vec![0; plain.len() + 256];
        let before = self.deflate.total_out();
        let done = self.deflate.compress(&plain, &mut out, DeflateFlush::SyncFlush);
        done.map_err(|why| SpdyError::Headers(why.as_str()))?;
        out.truncate((self.deflate.total_out() - before) as usize);
        Ok(out)
    }
}

impl StreamWriter {
    /// Sends bytes.
    ///
    /// # Errors
    /// Returns an error if the connection is closed.
    pub async fn write(&self, bytes: &[u8]) -> Result<(), SpdyError> {
        for piece in bytes.chunks(frame::MAX_DATA) {
            self.send(frame::data(self.stream, piece, false)).await?;
        }
        Ok(())
    }

    /// Ends this half of the stream.
    ///
    /// # Errors
    /// Returns an error if the connection is closed.
    pub async fn finish(&self) -> Result<(), SpdyError> {
        self.send(frame::data(self.stream, &[], true)).await
    }

    async fn send(&self, frame: Bytes) -> Result<(), SpdyError> {
        self.frames.send(frame).await.map_err(|_| SpdyError::Closed)
    }
}

impl Streams {
    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self, stream: u32) {
        if let Some(accepted) = self.lock().get_mut(&stream).and_then(|open| open.accepted.take()) {
            // Fails only if the waiter has timed out.
            let _ = accepted.send(());
        }
    }

    fn end(&self, stream: u32) {
        self.lock().remove(&stream);
    }

    fn reader(&self, stream: u32) -> Option<mpsc::Sender<Bytes>> {
        self.lock().get(&stream).map(|open| open.received.clone())
    }
}

/// Writes frames and periodic pings until an empty frame.
async fn write<T: AsyncWrite>(mut to: WriteHalf<T>, mut frames: mpsc::Receiver<Bytes>) {
    let (mut pings, mut id) = (interval(PING_EVERY), 1);
    loop {
        let frame = tokio::select! {
            frame = frames.recv() => frame.unwrap_or_default(),
            _ = pings.tick() => {
                id += 2;
                frame::ping(id)
            }
        };
        if frame.is_empty() || to.write_all(&frame).await.is_err() || to.flush().await.is_err() {
            break;
        }
    }
    // The connection is closed in any case, so the result is ignored.
    let _ = to.shutdown().await;
}

/// Reads frames until the end. A stream without a reader blocks the others, which is back-pressure
/// for the other side.
async fn read<T: AsyncRead>(mut from: BufReader<ReadHalf<T>>, streams: Streams, frames: mpsc::Sender<Bytes>) {
    let mut head = [0; HEAD];
    while from.read_exact(&mut head).await.is_ok() {
        if read_frame(&mut from, Head::parse(head), &streams, &frames).await.is_err() {
            break;
        }
    }
    streams.lock().clear();
}

async fn read_frame<T: AsyncRead>(
    from: &mut BufReader<ReadHalf<T>>,
    head: Head,
    streams: &Streams,
    frames: &mpsc::Sender<Bytes>,
) -> std::io::Result<()> {
    let FrameType::Data(stream) = head.kind else { return read_control(from, head, streams, frames).await };
    let reader = streams.reader(stream);
    let mut left = head.length;
    while left > 0 {
        let mut piece = vec![0; left.min(PIECE)];
        from.read_exact(&mut piece).await?;
        left -= piece.len();
        if let Some(reader) = &reader {
            // Fails only if the reader was dropped.
            let _ = reader.send(piece.into()).await;
        }
    }
    if head.is_last {
        streams.end(stream);
    }
    Ok(())
}

async fn read_control<T: AsyncRead>(
    from: &mut BufReader<ReadHalf<T>>,
    head: Head,
    streams: &Streams,
    frames: &mpsc::Sender<Bytes>,
) -> std::io::Result<()> {
    let mut rest = from.take(head.length as u64);
    if matches!(head.kind, FrameType::SynReply | FrameType::RstStream | FrameType::Ping) {
        let id = rest.read_u32().await?;
        match head.kind {
            FrameType::SynReply => streams.accept(id),
            FrameType::RstStream => streams.end(id),
            // Even numbers are pings of the other side. A reply that does not fit the queue is
            // dropped; the ping is repeated.
            _ if id % 2 == 0 => drop(frames.try_send(frame::ping(id))),
            _ => {}
        }
        if head.kind == FrameType::SynReply && head.is_last {
            streams.end(id);
        }
    }
    tokio::io::copy(&mut rest, &mut tokio::io::sink()).await.map(drop)
}
