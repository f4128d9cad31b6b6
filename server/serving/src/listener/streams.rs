//! Executes the streams of an HTTP/2 connection.
//!
//! A request runs in a separate task. When its response is a watch and the initial events are sent,
//! the stream migrates to the task of its connection. A change that fifty watches of a connection
//! receive then wakes one task and not fifty. The watches do not contend for the lock of the
//! connection, and their frames are written together.

mod local_stream;

use std::cell::Cell;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::CatchUnwind;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use hyper::rt::Executor;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use local_stream::LocalStream;
pub(crate) use local_stream::body_polled;

type Stream = Pin<Box<dyn Future<Output = ()> + Send>>;

thread_local! {
    /// Whether the stream that this thread polls is to migrate. hyper's type of a stream has no
    /// field for it.
    static MIGRATES: Cell<bool> = const { Cell::new(false) };
}

/// Marks the response of a watch; in its extensions.
#[derive(Clone, Copy)]
pub(crate) struct WatchResponse;

/// Makes the current stream migrate to the task of its connection when it is next pending.
pub(super) fn migrate_to_connection() {
    MIGRATES.set(true);
}

/// The executor of the streams of one connection.
#[derive(Clone)]
pub(super) struct StreamExecutor(UnboundedSender<Stream>);

/// The streams that have migrated. The task of the connection polls them before the connection,
/// which then writes their frames.
pub(super) struct LocalStreams {
    arriving: UnboundedReceiver<Stream>,
    streams: FuturesUnordered<LocalStream<CatchUnwind<AssertUnwindSafe<Stream>>>>,
}

impl StreamExecutor {
    pub fn new() -> (Self, LocalStreams) {
        let (sender, arriving) = unbounded_channel();
        (StreamExecutor(sender), LocalStreams { arriving, streams: FuturesUnordered::new() })
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for StreamExecutor {
    fn execute(&self, stream: F) {
        tokio::spawn(SpawnedStream { stream: Some(Box::pin(stream)), connection: self.0.clone() });
    }
}

/// A stream in a separate task.
struct SpawnedStream {
    stream: Option<Stream>,
    connection: UnboundedSender<Stream>,
}

impl Future for SpawnedStream {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        MIGRATES.set(false);
        let Some(stream) = &mut self.stream else { return Poll::Ready(()) };
        if stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        if !MIGRATES.take() {
            return Poll::Pending;
        }
        // If the connection has ended, the send fails and the stream is dropped.
        let _ = self.stream.take().map(|stream| self.connection.send(stream));
        Poll::Ready(())
    }
}

impl LocalStreams {
    /// Polls all migrated streams that are woken.
    pub fn poll(&mut self, context: &mut Context<'_>) {
        while let Poll::Ready(Some(stream)) = self.arriving.poll_recv(context) {
            // As in a separate task, a panic ends only the stream.
            self.streams.push(LocalStream::new(AssertUnwindSafe(stream).catch_unwind()));
        }
        while let Poll::Ready(Some(_)) = self.streams.poll_next_unpin(context) {}
    }

    /// The number of migrated streams.
    pub fn len(&self) -> u64 {
        self.streams.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;

    use tokio::sync::Notify;
    use tokio::task::{Id, id};

    use super::*;

    /// Runs a stream that may migrate; returns its tasks before and after it was pending.
    async fn tasks(migrates: bool) -> (Id, Id) {
        let (streams, mut local_streams) = StreamExecutor::new();
        let (go_on, (sender, mut tasks)) = (Arc::new(Notify::new()), unbounded_channel());
        streams.execute({
            let go_on = go_on.clone();
            async move {
                let _ = sender.send(id());
                if migrates {
                    migrate_to_connection();
                }
                go_on.notified().await;
                let _ = sender.send(id());
            }
        });
        let first = tasks.recv().await.unwrap();
        go_on.notify_one();
        let second = poll_fn(|context| {
            local_streams.poll(context);
            tasks.poll_recv(context)
        });
        (first, second.await.unwrap())
    }

    #[tokio::test]
    async fn watch_stream_migrates_to_its_connection() {
        let here = tokio::spawn(async { (id(), tasks(true).await, tasks(false).await) });
        let (here, (before, after), (never, ever)) = here.await.unwrap();
        assert!(before != here && after == here, "the stream migrates");
        assert!(never != here && ever == never, "other streams do not");
    }

    #[tokio::test]
    async fn panic_ends_only_its_stream() {
        let (streams, mut local_streams) = StreamExecutor::new();
        let (sender, mut received) = unbounded_channel();
        for name in ["bad", "good"] {
            let sender = sender.clone();
            streams.execute(async move {
                migrate_to_connection();
                tokio::task::yield_now().await;
                assert_eq!(name, "good");
                let _ = sender.send(name);
            });
        }
        drop(sender);
        let all = poll_fn(|context| {
            local_streams.poll(context);
            received.poll_recv(context)
        });
        assert_eq!(all.await, Some("good"));
    }
}
