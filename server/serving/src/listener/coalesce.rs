//! Writes of an HTTP/2 connection, gathered: what many of its streams have to say at one moment leaves in one piece.
//!
//! `h2` writes every frame of data by itself. A change that fifty watches of a connection wait for would be fifty TLS records and fifty
//! system calls; gathered, it is a few. To `h2` what it writes is gone. Whoever polls the connection ends its turn afterwards, and then it
//! is written: at once when no request is being answered elsewhere, else when the worker has nothing else to run, which is when most of those
//! that are under way have had their say.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::buffer_pool;
use super::table::Place;

/// How much is gathered before it is written in any case: four TLS records of the largest size.
const ENOUGH: usize = 64 << 10;

/// A stream whose writes are gathered, for `h2`.
pub(super) struct CoalescingWriter<S>(Arc<Mutex<Gathering<S>>>);

/// The same stream, for whoever polls the connection.
pub(super) struct FlushScheduler<S> {
    gathering: Arc<Mutex<Gathering<S>>>,
    /// The moment that is waited for before what waits is written.
    lull: Option<Arc<IdleSignal>>,
    /// How many moments have been waited for, each in vain because more had come by then: streams run on several workers.
    lulls: u8,
}

struct Gathering<S> {
    stream: S,
    /// HTTP/1.1 writes an answer as a whole, and has nothing to gather.
    is_gathering: bool,
    /// What waits to be written, after the first `written` bytes of it.
    waiting: Vec<u8>,
    written: usize,
    /// Something has been written that the stream may still hold back.
    is_unflushed: bool,
    /// The connection's place, for as long as the stream lives: longer than HTTP where it changes protocols.
    place: Option<Arc<Place>>,
}

/// Gathers the writes of a stream.
pub(super) fn gather<S>(stream: S, is_gathering: bool) -> (CoalescingWriter<S>, FlushScheduler<S>) {
    let gathering =
        Gathering { stream, is_gathering, waiting: Vec::new(), written: 0, is_unflushed: false, place: None };
    let gathering = Arc::new(Mutex::new(gathering));
    (CoalescingWriter(gathering.clone()), FlushScheduler { gathering, lull: None, lulls: 0 })
}

/// So many moments are waited for at most.
const MOST_LULLS: u8 = 4;

/// Says that the worker has run everything else that was ready.
struct IdleSignal {
    reached: AtomicBool,
    /// How much waited when it began.
    waiting: usize,
    task: Waker,
}

impl Wake for IdleSignal {
    fn wake(self: Arc<Self>) {
        self.reached.store(true, Ordering::Release);
        self.task.wake_by_ref();
    }
}

impl IdleSignal {
    /// The runtime wakes what yields when its queue is empty, and now and then when it never is.
    fn begin(waiting: usize, task: &Waker) -> Arc<Self> {
        let lull = Arc::new(IdleSignal { reached: AtomicBool::new(false), waiting, task: task.clone() });
        let waker = Waker::from(Arc::clone(&lull));
        let yielding = std::pin::pin!(tokio::task::yield_now());
        // Always pending the first time: the waker is what matters.
        let _ = yielding.poll(&mut Context::from_waker(&waker));
        lull
    }
}

impl<S: AsyncWrite + Unpin> FlushScheduler<S> {
    /// Keeps a place until the stream is dropped.
    pub fn hold(&self, place: Arc<Place>) {
        lock(&self.gathering).place = Some(place);
    }

    /// Ends a turn of the connection: writes what its streams have said in it. `is_busy`: others are about to say more.
    ///
    /// # Errors
    /// Those of the stream, after which there is nothing more to be said.
    pub fn end(&mut self, context: &mut Context<'_>, is_busy: bool) -> Result<()> {
        let mut gathering = lock(&self.gathering);
        let waiting = gathering.waiting.len();
        if waiting == 0 && !gathering.is_unflushed {
            return Ok(());
        }
        if waiting > 0 && is_busy && lull(&mut self.lull, &mut self.lulls, waiting, context).is_pending() {
            return Ok(());
        }
        (self.lull, self.lulls) = (None, 0);
        match gathering.poll_write_out(context) {
            Poll::Ready(Err(error)) => Err(error),
            // Who has to wait for the client to read is woken by it.
            Poll::Ready(Ok(())) | Poll::Pending => Ok(()),
        }
    }
}

/// Whether everybody has had their say.
fn lull(lull: &mut Option<Arc<IdleSignal>>, lulls: &mut u8, waiting: usize, context: &Context<'_>) -> Poll<()> {
    let begun = lull.get_or_insert_with(|| IdleSignal::begin(waiting, context.waker()));
    if !begun.reached.load(Ordering::Acquire) {
        return Poll::Pending;
    }
    if begun.waiting < waiting && *lulls < MOST_LULLS {
        *lulls += 1;
        *lull = Some(IdleSignal::begin(waiting, context.waker()));
        return Poll::Pending;
    }
    Poll::Ready(())
}

impl<S: AsyncWrite + Unpin> Gathering<S> {
    /// Writes so much of what waits.
    fn poll_write(&mut self, context: &mut Context<'_>, up_to: usize) -> Poll<Result<()>> {
        while self.written < up_to {
            self.is_unflushed = true;
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.waiting[self.written..up_to]))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
        }
        Poll::Ready(Ok(()))
    }

    /// Writes as many whole pieces as there are, for what is left of the last one would be a TLS record and a system call of its own.
    fn poll_write_enough(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let whole = self.waiting.len() - self.waiting.len() % ENOUGH;
        ready!(self.poll_write(context, whole))?;
        self.waiting.drain(..self.written);
        self.written = 0;
        Poll::Ready(Ok(()))
    }

    /// Writes all that waits.
    fn poll_write_out(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.poll_write(context, self.waiting.len()))?;
        // The buffer is given back: a connection that is silent costs nothing.
        buffer_pool::give_back(std::mem::take(&mut self.waiting));
        self.written = 0;
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.is_unflushed = false;
        Poll::Ready(Ok(()))
    }
}

fn lock<S>(gathering: &Mutex<Gathering<S>>) -> MutexGuard<'_, Gathering<S>> {
    gathering.lock().unwrap_or_else(PoisonError::into_inner)
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
        let mut gathering = lock(&self.0);
        if !gathering.is_gathering {
            return Pin::new(&mut gathering.stream).poll_write_vectored(context, from);
        }
        if gathering.waiting.len() >= ENOUGH {
            ready!(gathering.poll_write_enough(context))?;
        }
        if gathering.waiting.capacity() == 0 {
            gathering.waiting = buffer_pool::take();
        }
        from.iter().for_each(|slice| gathering.waiting.extend_from_slice(slice));
        Poll::Ready(Ok(from.iter().map(|slice| slice.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        let gathering = lock(&self.0);
        gathering.is_gathering || gathering.stream.is_write_vectored()
    }

    /// What is gathered is flushed when the turn ends.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut gathering = lock(&self.0);
        match gathering.is_gathering {
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut gathering.stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut gathering = lock(&self.0);
        ready!(gathering.poll_write_out(context))?;
        Pin::new(&mut gathering.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::AsyncWriteExt;

    use super::*;

    /// Notes what arrives in one piece, as soon as it may.
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

    fn arrived(turns: &FlushScheduler<Pieces>) -> Vec<usize> {
        lock(&turns.gathering).stream.arrived.iter().map(Vec::len).collect()
    }

    /// The lengths of the pieces in which so many writes of a length leave, before the turn ends and after.
    async fn lengths(is_gathering: bool, count: usize, length: usize) -> (Vec<usize>, Vec<usize>) {
        let (mut gathered, mut turns) = gather(Pieces::default(), is_gathering);
        for _ in 0..count {
            gathered.write_all(&vec![7; length]).await.unwrap();
        }
        gathered.flush().await.unwrap();
        let before = arrived(&turns);
        poll_fn(|context| Poll::Ready(turns.end(context, false))).await.unwrap();
        assert!(count == 0 || lock(&turns.gathering).stream.is_flushed);
        (before, arrived(&turns))
    }

    #[tokio::test]
    async fn what_is_said_in_one_turn_leaves_in_one_piece() {
        assert_eq!(lengths(true, 50, 100).await, (vec![], vec![5_000]));
        assert_eq!(lengths(true, 3, ENOUGH).await, (vec![ENOUGH; 2], vec![ENOUGH; 3]), "enough does not wait");
        assert_eq!(lengths(true, 3, ENOUGH / 4 * 5).await, (vec![ENOUGH; 2], vec![ENOUGH, ENOUGH, ENOUGH / 4 * 7]));
        assert_eq!(lengths(false, 3, 100).await, (vec![100; 3], vec![100; 3]), "HTTP/1.1 gathers nothing");
        assert_eq!(lengths(true, 0, 0).await, (vec![], vec![]));
    }

    #[tokio::test]
    async fn a_turn_waits_for_those_who_are_about_to_speak() {
        let (mut gathered, mut turns) = gather(Pieces::default(), true);
        let mut ends = 0;
        let said_while_it_waited = poll_fn(|context| {
            ends += 1;
            if ends < 3 {
                let said = Pin::new(&mut gathered).poll_write(context, &[7; 100]);
                assert!(said.is_ready());
            }
            turns.end(context, true).unwrap();
            if arrived(&turns).is_empty() { Poll::Pending } else { Poll::Ready(arrived(&turns)) }
        });
        assert_eq!(said_while_it_waited.await, [200]);
        assert_eq!(ends, 3);
    }

    #[tokio::test]
    async fn what_cannot_leave_yet_leaves_later() {
        let (mut gathered, mut turns) = gather(Pieces { is_full: true, ..Pieces::default() }, true);
        gathered.write_all(&[7; ENOUGH + 1]).await.unwrap();
        poll_fn(|context| {
            turns.end(context, false).unwrap();
            assert!(Pin::new(&mut gathered).poll_write(context, b"more").is_pending(), "and nothing more is taken");
            lock(&turns.gathering).stream.is_full = false;
            Poll::Ready(turns.end(context, false))
        })
        .await
        .unwrap();
        assert_eq!(arrived(&turns), [ENOUGH + 1]);
    }

    #[tokio::test]
    async fn an_end_leaves_nothing_behind() {
        let (mut gathered, turns) = gather(Pieces::default(), true);
        gathered.write_all(b"goodbye").await.unwrap();
        gathered.shutdown().await.unwrap();
        assert_eq!(lock(&turns.gathering).stream.arrived, [b"goodbye"]);
    }
}
