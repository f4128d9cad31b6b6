//! Writes of an HTTP/2 connection, gathered: what many of its streams have to say at one moment leaves in one piece.
//!
//! `h2` writes every frame of data by itself. A change that fifty watches of a connection wait for would be fifty TLS records and fifty
//! system calls; gathered, it is a few. What is written waits until the worker has nothing else to run, which is when all streams have had
//! their say, or until there is enough of it.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::spare;

/// How much is gathered before it is written in any case: four TLS records of the largest size.
const ENOUGH: usize = 64 << 10;

/// A stream whose writes are gathered.
pub(super) struct Gathered<S> {
    stream: S,
    /// HTTP/1.1 writes an answer as a whole, and has nothing to gather.
    is_gathering: bool,
    /// What waits to be written, after the first `written` bytes of it.
    waiting: Vec<u8>,
    written: usize,
    /// The moment that is waited for before what waits is written.
    lull: Option<Arc<Lull>>,
    /// How many moments have been waited for, each in vain because more had come by then: streams run on several workers.
    lulls: u8,
}

/// So many moments are waited for at most.
const MOST_LULLS: u8 = 4;

/// Says that the worker has run everything else that was ready.
struct Lull {
    reached: AtomicBool,
    /// How much waited when it began.
    waiting: usize,
    task: Waker,
}

impl Wake for Lull {
    fn wake(self: Arc<Self>) {
        self.reached.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl Lull {
    /// The runtime wakes what yields when its queue is empty, and now and then when it never is.
    fn begin(waiting: usize, task: &Waker) -> Arc<Self> {
        let lull = Arc::new(Lull { reached: AtomicBool::new(false), waiting, task: task.clone() });
        let waker = Waker::from(Arc::clone(&lull));
        let yielding = std::pin::pin!(tokio::task::yield_now());
        // Always pending the first time: the waker is what matters.
        let _ = yielding.poll(&mut Context::from_waker(&waker));
        lull
    }
}

impl<S: AsyncWrite + Unpin> Gathered<S> {
    pub fn new(stream: S, is_gathering: bool) -> Self {
        Gathered { stream, is_gathering, waiting: Vec::new(), written: 0, lull: None, lulls: 0 }
    }

    /// Whether everybody has had their say.
    fn poll_lull(&mut self, context: &Context<'_>) -> Poll<()> {
        let waiting = self.waiting.len();
        let lull = self.lull.get_or_insert_with(|| Lull::begin(waiting, context.waker()));
        if !lull.reached.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        if lull.waiting < waiting && self.lulls < MOST_LULLS {
            self.lulls += 1;
            self.lull = Some(Lull::begin(waiting, context.waker()));
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Writes what waits.
    fn poll_write_out(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while self.written < self.waiting.len() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.waiting[self.written..]))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
        }
        // The buffer is given back: a connection that is silent costs nothing.
        spare::give_back(std::mem::take(&mut self.waiting));
        (self.written, self.lull, self.lulls) = (0, None, 0);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gathered<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gathered<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(from)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        if !self.is_gathering {
            return Pin::new(&mut self.stream).poll_write_vectored(context, from);
        }
        if self.waiting.len() >= ENOUGH {
            ready!(self.poll_write_out(context))?;
        }
        if self.waiting.capacity() == 0 {
            self.waiting = spare::take();
        }
        from.iter().for_each(|slice| self.waiting.extend_from_slice(slice));
        Poll::Ready(Ok(from.iter().map(|slice| slice.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        self.is_gathering || self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if !self.waiting.is_empty() {
            ready!(self.poll_lull(context));
            ready!(self.poll_write_out(context))?;
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_write_out(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// Notes what arrives in one piece.
    #[derive(Default)]
    struct Pieces(Vec<Vec<u8>>);

    impl AsyncWrite for Pieces {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, from: &[u8]) -> Poll<Result<usize>> {
            self.0.push(from.to_vec());
            Poll::Ready(Ok(from.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncRead for Pieces {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<Result<()>> {
            Poll::Pending
        }
    }

    /// The lengths of the pieces in which so many writes of a length leave.
    async fn lengths(is_gathering: bool, count: usize, length: usize) -> Vec<usize> {
        let mut gathered = Gathered::new(Pieces::default(), is_gathering);
        for _ in 0..count {
            gathered.write_all(&vec![7; length]).await.unwrap();
        }
        gathered.flush().await.unwrap();
        gathered.stream.0.iter().map(Vec::len).collect()
    }

    #[tokio::test]
    async fn what_is_written_at_one_moment_leaves_in_one_piece() {
        assert_eq!(lengths(true, 50, 100).await, [5_000]);
        assert_eq!(lengths(true, 3, ENOUGH).await, [ENOUGH; 3], "enough does not wait");
        assert_eq!(lengths(false, 3, 100).await, [100; 3], "HTTP/1.1 gathers nothing");
        assert_eq!(lengths(true, 0, 0).await, [0; 0]);
    }

    #[tokio::test]
    async fn an_end_leaves_nothing_behind() {
        let mut gathered = Gathered::new(Pieces::default(), true);
        gathered.write_all(b"goodbye").await.unwrap();
        gathered.shutdown().await.unwrap();
        assert_eq!(gathered.stream.0, [b"goodbye"]);
    }
}
