//! Coalesces the writes of an HTTP/2 connection, so that the frames of many streams leave in one
//! write.
//!
//! `h2` writes every DATA frame separately. A change that fifty watches of a connection receive
//! would be fifty TLS records and fifty system calls. `CoalescingWriter` accepts the frames at once
//! and buffers them. The task that polls the connection flushes the buffer after each poll. If no
//! request of the connection runs elsewhere, it flushes immediately. Otherwise it flushes when the
//! worker has run all other ready tasks; by then most requests in flight have written their frames.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::buffer_pool;
use super::table::ConnectionSlot;

/// The amount that is written without waiting for the flush: four TLS records of the maximum size.
const FLUSH_THRESHOLD: usize = 64 << 10;

/// The writing side of a coalesced stream, for `h2`.
pub(super) struct CoalescingWriter<S>(Arc<Mutex<Buffered<S>>>);

/// The flushing side of the stream, for the task that polls the connection.
pub(super) struct FlushScheduler<S> {
    buffered: Arc<Mutex<Buffered<S>>>,
    /// The signal for which the flush waits.
    idle_signal: Option<Arc<IdleSignal>>,
    /// How often the flush was postponed because frames arrived meanwhile: streams run on several
    /// workers.
    idle_rounds: u8,
}

struct Buffered<S> {
    stream: S,
    /// False for HTTP/1.1, which writes each response in one piece.
    is_coalescing: bool,
    /// The pending data; the first `written` bytes of it are written already.
    pending: Vec<u8>,
    written: usize,
    /// Whether data was written to the stream since its last flush.
    is_unflushed: bool,
    /// The slot of the connection, held until the stream is dropped. An upgraded connection
    /// outlives the HTTP connection.
    slot: Option<Arc<ConnectionSlot>>,
}

/// Wraps a stream for coalescing.
pub(super) fn coalesce<S>(stream: S, is_coalescing: bool) -> (CoalescingWriter<S>, FlushScheduler<S>) {
    let buffered = Buffered { stream, is_coalescing, pending: Vec::new(), written: 0, is_unflushed: false, slot: None };
    let buffered = Arc::new(Mutex::new(buffered));
    (CoalescingWriter(buffered.clone()), FlushScheduler { buffered, idle_signal: None, idle_rounds: 0 })
}

/// The maximum number of idle signals that a flush waits for.
const MAX_IDLE_ROUNDS: u8 = 4;

/// Signals that the worker has run all other ready tasks.
struct IdleSignal {
    reached: AtomicBool,
    /// The pending bytes when the wait began.
    pending: usize,
    task: Waker,
}

impl Wake for IdleSignal {
    fn wake(self: Arc<Self>) {
        self.reached.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl IdleSignal {
    /// Uses `yield_now`: the runtime wakes yielding tasks when its queue is empty, and regularly
    /// while it is not.
    fn begin(pending: usize, task: &Waker) -> Arc<Self> {
        let signal = Arc::new(IdleSignal { reached: AtomicBool::new(false), pending, task: task.clone() });
        let waker = Waker::from(Arc::clone(&signal));
        let yielding = std::pin::pin!(tokio::task::yield_now());
        // Always pending the first time: only the registration of the waker matters.
        let _ = yielding.poll(&mut Context::from_waker(&waker));
        signal
    }
}

impl<S: AsyncWrite + Unpin> FlushScheduler<S> {
    /// Holds the slot of the connection until the stream is dropped.
    pub fn hold(&self, slot: Arc<ConnectionSlot>) {
        lock(&self.buffered).slot = Some(slot);
    }

    /// Flushes after a poll of the connection.
    ///
    /// If `is_busy`, requests in flight are about to write more, and the flush waits for the idle
    /// signal.
    ///
    /// # Errors
    /// The stream failed; the connection is unusable.
    pub fn flush(&mut self, context: &mut Context<'_>, is_busy: bool) -> Result<()> {
        let mut buffered = lock(&self.buffered);
        let pending = buffered.pending.len();
        if pending == 0 && !buffered.is_unflushed {
            return Ok(());
        }
        if pending > 0
            && is_busy
            && poll_idle(&mut self.idle_signal, &mut self.idle_rounds, pending, context).is_pending()
        {
            return Ok(());
        }
        (self.idle_signal, self.idle_rounds) = (None, 0);
        match buffered.poll_write_all(context) {
            Poll::Ready(Err(error)) => Err(error),
            // When the client's window is full, the stream wakes the task.
            Poll::Ready(Ok(())) | Poll::Pending => Ok(()),
        }
    }
}

/// Ready when the worker is idle and no more data has arrived.
fn poll_idle(
    idle_signal: &mut Option<Arc<IdleSignal>>,
    idle_rounds: &mut u8,
    pending: usize,
    context: &Context<'_>,
) -> Poll<()> {
    let begun = idle_signal.get_or_insert_with(|| IdleSignal::begin(pending, context.waker()));
    if !begun.reached.load(Ordering::Acquire) {
        return Poll::Pending;
    }
    if begun.pending < pending && *idle_rounds < MAX_IDLE_ROUNDS {
        *idle_rounds += 1;
        *idle_signal = Some(IdleSignal::begin(pending, context.waker()));
        return Poll::Pending;
    }
    Poll::Ready(())
}

impl<S: AsyncWrite + Unpin> Buffered<S> {
    /// Writes the pending data up to an offset.
    fn poll_write(&mut self, context: &mut Context<'_>, up_to: usize) -> Poll<Result<()>> {
        while self.written < up_to {
            self.is_unflushed = true;
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.pending[self.written..up_to]))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
        }
        Poll::Ready(Ok(()))
    }

    /// Writes only multiples of the threshold: the rest would be a TLS record and a system call of
    /// its own.
    fn poll_write_chunks(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let full_chunks = self.pending.len() - self.pending.len() % FLUSH_THRESHOLD;
        ready!(self.poll_write(context, full_chunks))?;
        self.pending.drain(..self.written);
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    /// Writes and flushes all pending data.
    fn poll_write_all(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_write(context, self.pending.len()))?;
        // Return the buffer to the pool: an idle connection holds no buffer.
        buffer_pool::give_back(std::mem::take(&mut self.pending));
        self.written = 0;
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.is_unflushed = false;
        Poll::Ready(Ok(()))
    }
}

fn lock<S>(buffered: &Mutex<Buffered<S>>) -> MutexGuard<'_, Buffered<S>> {
    buffered.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: AsyncRead + Unpin> AsyncRead for CoalescingWriter<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut lock(&self.0).stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CoalescingWriter<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(from)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let mut buffered = lock(&self.0);
        if !buffered.is_coalescing {
            return Pin::new(&mut buffered.stream).poll_write_vectored(context, from);
        }
        if buffered.pending.len() >= FLUSH_THRESHOLD {
            ready!(buffered.poll_write_chunks(context))?;
        }
        if buffered.pending.capacity() == 0 {
            buffered.pending = buffer_pool::take();
        }
        from.iter().for_each(|slice| buffered.pending.extend_from_slice(slice));
        Poll::Ready(Ok(from.iter().map(|slice| slice.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        let buffered = lock(&self.0);
        buffered.is_coalescing || buffered.stream.is_write_vectored()
    }

    /// Coalesced data is flushed after the poll of the connection.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut buffered = lock(&self.0);
        match buffered.is_coalescing {
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut buffered.stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut buffered = lock(&self.0);
        ready!(buffered.poll_write_all(context))?;
        Pin::new(&mut buffered.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::AsyncWriteExt;

    use super::*;

    /// Records each write as one piece.
    #[derive(Default)]
    struct Pieces {
        arrived: Vec<Vec<u8>>,
        is_full: bool,
        is_flushed: bool,
    }

    impl AsyncWrite for Pieces {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, from: &[u8]) -> Poll<Result<usize>> {
            if self.is_full {
                return Poll::Pending;
            }
            self.is_flushed = false;
            self.arrived.push(from.to_vec());
            Poll::Ready(Ok(from.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
            self.is_flushed = true;
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

    fn arrived(scheduler: &FlushScheduler<Pieces>) -> Vec<usize> {
        lock(&scheduler.buffered).stream.arrived.iter().map(Vec::len).collect()
    }

    /// The sizes of the pieces of `count` writes of `length` bytes, before and after the flush.
    async fn lengths(is_coalescing: bool, count: usize, length: usize) -> (Vec<usize>, Vec<usize>) {
        let (mut writer, mut scheduler) = coalesce(Pieces::default(), is_coalescing);
        for _ in 0..count {
            writer.write_all(&vec![7; length]).await.unwrap();
        }
        writer.flush().await.unwrap();
        let before = arrived(&scheduler);
        poll_fn(|context| Poll::Ready(scheduler.flush(context, false))).await.unwrap();
        assert!(count == 0 || lock(&scheduler.buffered).stream.is_flushed);
        (before, arrived(&scheduler))
    }

    #[tokio::test]
    async fn writes_of_one_poll_leave_in_one_piece() {
        assert_eq!(lengths(true, 50, 100).await, (vec![], vec![5_000]));
        assert_eq!(
            lengths(true, 3, FLUSH_THRESHOLD).await,
            (vec![FLUSH_THRESHOLD; 2], vec![FLUSH_THRESHOLD; 3]),
            "full chunks do not wait"
        );
        assert_eq!(
            lengths(true, 3, FLUSH_THRESHOLD / 4 * 5).await,
            (vec![FLUSH_THRESHOLD; 2], vec![FLUSH_THRESHOLD, FLUSH_THRESHOLD, FLUSH_THRESHOLD / 4 * 7])
        );
        assert_eq!(lengths(false, 3, 100).await, (vec![100; 3], vec![100; 3]), "HTTP/1.1 is not coalesced");
        assert_eq!(lengths(true, 0, 0).await, (vec![], vec![]));
    }

    #[tokio::test]
    async fn flush_waits_for_requests_in_flight() {
        let (mut writer, mut scheduler) = coalesce(Pieces::default(), true);
        let mut ends = 0;
        let written_while_waiting = poll_fn(|context| {
            ends += 1;
            if ends < 3 {
                let written = Pin::new(&mut writer).poll_write(context, &[7; 100]);
                assert!(written.is_ready());
            }
            scheduler.flush(context, true).unwrap();
            if arrived(&scheduler).is_empty() { Poll::Pending } else { Poll::Ready(arrived(&scheduler)) }
        });
        assert_eq!(written_while_waiting.await, [200]);
        assert_eq!(ends, 3);
    }

    #[tokio::test]
    async fn flush_continues_when_stream_is_writable() {
        let (mut writer, mut scheduler) = coalesce(Pieces { is_full: true, ..Pieces::default() }, true);
        writer.write_all(&[7; FLUSH_THRESHOLD + 1]).await.unwrap();
        poll_fn(|context| {
            scheduler.flush(context, false).unwrap();
            assert!(Pin::new(&mut writer).poll_write(context, b"more").is_pending(), "no more data is accepted");
            lock(&scheduler.buffered).stream.is_full = false;
            Poll::Ready(scheduler.flush(context, false))
        })
        .await
        .unwrap();
        assert_eq!(arrived(&scheduler), [FLUSH_THRESHOLD + 1]);
    }

    #[tokio::test]
    async fn shutdown_writes_pending_data() {
        let (mut writer, scheduler) = coalesce(Pieces::default(), true);
        writer.write_all(b"last").await.unwrap();
        writer.shutdown().await.unwrap();
        assert_eq!(lock(&scheduler.buffered).stream.arrived, [b"last"]);
    }
}
