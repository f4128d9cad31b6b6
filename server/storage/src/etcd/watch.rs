//! The stream of one watcher to etcd, reopened after an interruption.
//!
//! When a watcher does not read, its etcd stream is not read either, and etcd keeps the events. So no
//! watch ends as too slow.

use std::sync::Arc;

use etcd_client::proto::PbWatchResponse;
use futures_util::stream;
use tokio::sync::{mpsc, watch};
use tonic::Status;

use super::feed::Feed;
use super::{
    Cluster, convert,
    failure::{failure, is_transient},
};
use crate::{Error, KeyRange, Result, Revision, Watch, WatchBatch};

/// Maximum number of batches queued for one watcher.
const BATCHES: usize = 16;

pub(super) async fn open(cluster: Arc<Cluster>, range: KeyRange, from: Option<Revision>) -> Result<Watch> {
    let feed = loop {
        match Feed::open(&cluster.client, &range, from.unwrap_or(0)).await {
            Ok(feed) => break feed,
            Err(status) if is_transient(&status) => cluster.pause().await?,
            Err(status) => return Err(failure(status)),
        }
    };
    let (sender, receiver) = mpsc::channel(BATCHES);
    let follower = Follower {
        next: from.unwrap_or(feed.created_at + 1),
        progress: cluster.progress.subscribe(),
        closed: cluster.closed.subscribe(),
        cluster,
        range,
        sender,
    };
    tokio::spawn(follower.run(feed));
    Ok(Watch::new(stream::unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) })))
}

/// Reads the etcd stream of a watch and forwards its batches.
struct Follower {
    cluster: Arc<Cluster>,
    range: KeyRange,
    /// The first revision that has not been forwarded.
    next: Revision,
    sender: mpsc::Sender<Result<WatchBatch>>,
    progress: watch::Receiver<u64>,
    closed: watch::Receiver<bool>,
}

/// Why a follower stops reading a stream.
enum Stop {
    /// The stream broke; a new one continues at the same revision.
    Interrupted,
    /// The reader dropped the watch.
    Abandoned,
    Failed(Error),
}

impl Follower {
    async fn run(mut self, mut feed: Feed) {
        let stop = loop {
            let stop = match self.follow(feed).await {
                Stop::Interrupted => self.reopen().await,
                stop => Err(stop),
            };
            match stop {
                Ok(opened) => feed = opened,
                Err(stop) => break stop,
            }
        };
        if let Stop::Failed(error) = stop {
            let _ = self.sender.send(Err(error)).await; // the watcher may be gone
        }
    }

    async fn reopen(&self) -> Result<Feed, Stop> {
        while !self.sender.is_closed() {
            match Feed::open(&self.cluster.client, &self.range, self.next).await {
                Ok(feed) => return Ok(feed),
                Err(status) if is_transient(&status) => self.cluster.pause().await.map_err(Stop::Failed)?,
                Err(status) => return Err(Stop::Failed(failure(status))),
            }
        }
        Err(Stop::Abandoned)
    }

    async fn follow(&mut self, mut feed: Feed) -> Stop {
        loop {
            let response = tokio::select! {
                response = feed.response() => Some(response),
                _ = self.progress.changed() => None,
                _ = self.closed.wait_for(|closed| *closed) => return Stop::Failed(Error::Closed),
                () = self.sender.closed() => return Stop::Abandoned,
            };
            let step = match response {
                Some(response) => self.deliver(response).await,
                None => feed.request_progress().await.map_err(|_| Stop::Interrupted),
            };
            if let Err(stop) = step {
                return stop;
            }
        }
    }

    async fn deliver(&mut self, response: Result<Option<PbWatchResponse>, Status>) -> Result<(), Stop> {
        let response = match response {
            Ok(Some(response)) => response,
            Ok(None) => return Err(Stop::Interrupted),
            Err(status) if is_transient(&status) => return Err(Stop::Interrupted),
            Err(status) => return Err(Stop::Failed(failure(status))),
        };
        if response.canceled {
            return Err(self.canceled(response));
        }
        let Some(batch) = convert::batch(response).map_err(Stop::Failed)? else { return Ok(()) };
        if batch.revision() + 1 < self.next {
            return Ok(()); // progress towards a future revision
        }
        self.next = batch.revision() + 1;
        self.sender.send(Ok(batch)).await.map_err(|_| Stop::Abandoned)
    }

    fn canceled(&self, response: PbWatchResponse) -> Stop {
        match convert::from_wire(response.compact_revision) {
            0 => Stop::Failed(failure(Status::unknown(response.cancel_reason))),
            compacted => Stop::Failed(Error::Compacted { requested: self.next, compacted }),
        }
    }
}
