//! The streams of an HTTP/2 connection, and where they run.
//!
//! A request runs in a task of its own. Once its answer turns out to be a watch, and has sent what there was, it settles in the task of its
//! connection: a change that fifty watches of a connection wait for then wakes one task and not fifty, no two of them wait for the lock
//! of the connection, and what they have to say is written as soon as all of them have said it.

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
pub(crate) use local_stream::body_is_asked;

type Stream = Pin<Box<dyn Future<Output = ()> + Send>>;

thread_local! {
    /// Whether the stream that this thread is polling is to settle. hyper's type of a stream has no room for it.
    static SETTLES: Cell<bool> = const { Cell::new(false) };
}

/// In the extensions of a response that mostly waits: a watch.
#[derive(Clone, Copy)]
pub(crate) struct Waits;

/// Lets the stream that is being polled settle when it next has to wait.
pub(super) fn settle() {
    SETTLES.set(true);
}

/// Runs the streams of one connection.
#[derive(Clone)]
pub(super) struct Streams(UnboundedSender<Stream>);

/// The streams that have settled. A connection polls them before itself, so that it writes what they say.
pub(super) struct LocalStreams {
    arriving: UnboundedReceiver<Stream>,
    streams: FuturesUnordered<LocalStream<CatchUnwind<AssertUnwindSafe<Stream>>>>,
}

impl Streams {
    pub fn new() -> (Self, LocalStreams) {
        let (sender, arriving) = unbounded_channel();
        (Streams(sender), LocalStreams { arriving, streams: FuturesUnordered::new() })
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        tokio::spawn(SpawnedStream { stream: Some(Box::pin(stream)), home: self.0.clone() });
    }
}

/// A stream in a task of its own.
struct SpawnedStream {
    stream: Option<Stream>,
    home: UnboundedSender<Stream>,
}

impl Future for SpawnedStream {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        SETTLES.set(false);
        let Some(stream) = &mut self.stream else { return Poll::Ready(()) };
        if stream.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        if !SETTLES.take() {
            return Poll::Pending;
        }
        // A connection that has ended takes nobody in; the stream ends with it.
        let _ = self.stream.take().map(|stream| self.home.send(stream));
        Poll::Ready(())
    }
}

impl LocalStreams {
    /// Lets all who have something to say say it.
    pub fn poll(&mut self, context: &mut Context<'_>) {
        while let Poll::Ready(Some(stream)) = self.arriving.poll_recv(context) {
            // As in a task of its own, who panics ends alone.
            self.streams.push(LocalStream::new(AssertUnwindSafe(stream).catch_unwind()));
        }
        while let Poll::Ready(Some(_)) = self.streams.poll_next_unpin(context) {}
    }

    /// How many there are.
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

    /// Runs a stream that settles as told; gives the tasks that it ran in before and after it had to wait.
    async fn tasks(settles: bool) -> (Id, Id) {
        let (streams, mut settled) = Streams::new();
        let (go_on, (sender, mut tasks)) = (Arc::new(Notify::new()), unbounded_channel());
        streams.execute({
            let go_on = go_on.clone();
            async move {
                let _ = sender.send(id());
                if settles {
                    settle();
                }
                go_on.notified().await;
                let _ = sender.send(id());
            }
        });
        let first = tasks.recv().await.unwrap();
        go_on.notify_one();
        let second = poll_fn(|context| {
            settled.poll(context);
            tasks.poll_recv(context)
        });
        (first, second.await.unwrap())
    }

    #[tokio::test]
    async fn what_mostly_waits_runs_with_its_connection() {
        let here = tokio::spawn(async { (id(), tasks(true).await, tasks(false).await) });
        let (here, (before, after), (never, ever)) = here.await.unwrap();
        assert!(before != here && after == here, "it settles");
        assert!(never != here && ever == never, "anything else stays where it is");
    }

    #[tokio::test]
    async fn who_panics_ends_alone() {
        let (streams, mut settled) = Streams::new();
        let (sender, mut said) = unbounded_channel();
        for name in ["bad", "good"] {
            let sender = sender.clone();
            streams.execute(async move {
                settle();
                tokio::task::yield_now().await;
                assert_eq!(name, "good");
                let _ = sender.send(name);
            });
        }
        drop(sender);
        let all = poll_fn(|context| {
            settled.poll(context);
            said.poll_recv(context)
        });
        assert_eq!(all.await, Some("good"));
    }
}
