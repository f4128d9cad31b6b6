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
};
use crate::{KeyRange, Result, Revision, Watch, WatchBatch};

pub(super) async fn open(
    readers: Arc<Readers>,
    hub: Arc<Hub>,
    range: KeyRange,
    from: Option<Revision>,
) -> Result<Watch> {
    let source = Source { readers, hub, range };
    let stage = match source.hub.subscribe(&source.range, from)? {
        Some(subscription) => Stage::Live(subscription),
        // The first chunk is read here, so that this call and not the stream refuses a compacted revision.
        None => Stage::Replay(source.chunk(from.unwrap_or_default()).await?),
    };
    Ok(Watch::new(EventStream { source, stage }))
}

struct Source {
    readers: Arc<Readers>,
    hub: Arc<Hub>,
    range: KeyRange,
}

impl Source {
    fn chunk(&self, from: Revision) -> impl Future<Output = Result<HistoryChunk>> + Send + use<> {
        let (readers, range) = (Arc::clone(&self.readers), self.range.clone());
        async move { readers.read_blocking(move |snapshot| snapshot.events(&range, from)).await }
    }
}

struct EventStream {
    source: Source,
    stage: Stage,
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
    /// Delivers a chunk and starts the next stage. An empty chunk yields no batch.
    fn replay(&mut self, chunk: HistoryChunk) -> Result<Option<WatchBatch>> {
        let HistoryChunk { events, next } = chunk;
        self.stage = match self.source.hub.subscribe(&self.source.range, Some(next))? {
            Some(subscription) => Stage::Live(subscription),
            None => Stage::Reading(Box::pin(self.source.chunk(next))),
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
                Stage::Ended => return Poll::Ready(Err(crate::Error::Closed)),
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
        if batch.is_err() {
            self.stage = Stage::Ended;
        }
        Poll::Ready(Some(batch))
    }
}
