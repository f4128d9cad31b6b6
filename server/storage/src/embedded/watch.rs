//! The stream of one watcher: events from the history first, then from the hub.
//!
//! A watcher reads the history itself, when it is polled, so catching up costs other watchers nothing.
//! It subscribes when nothing is left to read, under the lock that publishing takes. Hence no event is
//! missed or repeated.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use super::{
    hub::{Hub, Subscription},
    read::HistoryChunk,
    readers::Readers,
    watcher::Watcher,
};
use crate::{Error, Result, Revision, WatchBatch};

/// What watchers read from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) readers: Arc<Readers>,
    pub(super) hub: Arc<Hub>,
}

/// Opens a watch. Its stream ends after an error.
pub(super) async fn open(source: Source, watcher: Arc<Watcher>, from: Option<Revision>) -> Result<EventStream> {
    let (stage, next) = match source.hub.subscribe(&watcher, from)? {
        Some(subscription) => {
            let next = subscription.from();
            (Stage::Live(subscription), next)
        }
        // The first chunk is read here, so that this call and not the stream refuses a compacted revision.
        None => {
            let from = from.unwrap_or_default();
            (Stage::Replay(source.chunk(&watcher, from).await?), from)
        }
    };
    Ok(EventStream { source, watcher, stage, next })
}

impl Source {
    fn chunk(
        &self,
        watcher: &Arc<Watcher>,
        from: Revision,
    ) -> impl Future<Output = Result<HistoryChunk>> + Send + use<> {
        let (readers, watcher) = (Arc::clone(&self.readers), Arc::clone(watcher));
        async move { readers.read_blocking(move |snapshot| snapshot.events(watcher.range(), from)).await }
    }
}

pub(super) struct EventStream {
    source: Source,
    watcher: Arc<Watcher>,
    stage: Stage,
    /// The first revision that has not been delivered.
    next: Revision,
}

enum Stage {
    /// A chunk of history is being read.
    Reading(Pin<Box<dyn Future<Output = Result<HistoryChunk>> + Send>>),
    /// A chunk is ready for delivery.
    Replay(HistoryChunk),
    Live(Subscription),
    Ended,
}

impl EventStream {
    pub(super) fn watcher(&self) -> &Arc<Watcher> {
        &self.watcher
    }

    /// Returns the first revision that has not been delivered.
    pub(super) fn next_revision(&self) -> Revision {
        self.next
    }

    /// Delivers a chunk and starts the next stage. An empty chunk yields no batch.
    fn replay(&mut self, chunk: HistoryChunk) -> Result<Option<WatchBatch>> {
        let HistoryChunk { events, next } = chunk;
        self.stage = match self.source.hub.subscribe(&self.watcher, Some(next))? {
            Some(subscription) => Stage::Live(subscription),
            None => Stage::Reading(Box::pin(self.source.chunk(&self.watcher, next))),
        };
        Ok(events.last().map(|last| last.revision()).map(|revision| WatchBatch::Events { events, revision }))
    }

    fn poll_batch(&mut self, context: &mut Context<'_>) -> Poll<Result<WatchBatch>> {
        loop {
            match &mut self.stage {
                Stage::Reading(chunk) => self.stage = Stage::Replay(ready!(chunk.as_mut().poll(context))?),
                Stage::Replay(_) => {
                    if let Stage::Replay(chunk) = std::mem::replace(&mut self.stage, Stage::Ended)
                        && let Some(batch) = self.replay(chunk)?
                    {
                        return Poll::Ready(Ok(batch));
                    }
                }
                Stage::Live(subscription) => return subscription.poll(context),
                Stage::Ended => return Poll::Ready(Err(Error::Closed)),
            }
        }
    }
}

impl Stream for EventStream {
    type Item = Result<WatchBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Stage::Ended = self.stage {
            return Poll::Ready(None);
        }
        let batch = ready!(self.poll_batch(context));
        match &batch {
            Ok(batch) => self.next = batch.revision() + 1,
            Err(_) => self.stage = Stage::Ended,
        }
        Poll::Ready(Some(batch))
    }
}

/// A watch of etcd's API: it continues from the history when its reader was too slow, and has no
/// progress notifications of its own.
///
/// The items are changes in order of revision. An error is the last item.
pub struct EmbeddedWatch {
    source: Source,
    stream: Option<EventStream>,
    reopening: Option<Pin<Box<dyn Future<Output = Result<EventStream>> + Send>>>,
    watcher: Arc<Watcher>,
    start: Revision,
}

/// Names a watch towards [`EmbeddedStore::caught_up`](crate::EmbeddedStore::caught_up).
#[derive(Clone)]
pub struct WatchHandle(pub(super) Arc<Watcher>);

impl EmbeddedWatch {
    pub(super) fn new(source: Source, stream: EventStream) -> Self {
        let (watcher, start) = (Arc::clone(stream.watcher()), stream.next_revision());
        Self { source, stream: Some(stream), reopening: None, watcher, start }
    }

    /// Returns the first revision that the watch delivers.
    pub fn start(&self) -> Revision {
        self.start
    }

    /// Returns the handle of the watch.
    pub fn handle(&self) -> WatchHandle {
        WatchHandle(Arc::clone(&self.watcher))
    }

    /// Continues after the last delivered revision, from the history.
    fn reopen(&mut self, next: Revision) {
        self.stream = None; // unsubscribes, before the same watcher subscribes again
        self.reopening = Some(Box::pin(open(self.source.clone(), Arc::clone(&self.watcher), Some(next))));
    }
}

impl Stream for EmbeddedWatch {
    type Item = Result<WatchBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(reopening) = &mut self.reopening {
                let opened = ready!(reopening.as_mut().poll(context));
                self.reopening = None;
                match opened {
                    Ok(stream) => self.stream = Some(stream),
                    Err(error) => return Poll::Ready(Some(Err(error))),
                }
            }
            let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
            match ready!(Pin::new(&mut *stream).poll_next(context)) {
                Some(Ok(WatchBatch::Progress { .. })) => {}
                Some(Err(Error::WatchTooSlow { .. })) => {
                    let next = stream.next_revision();
                    self.reopen(next);
                }
                Some(Ok(batch)) => return Poll::Ready(Some(Ok(batch))),
                Some(Err(error)) => {
                    self.stream = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(None),
            }
        }
    }
}
