//! The stream of one watcher to etcd, reopened after an interruption.
//!
//! When a watcher does not read, its etcd stream is not read either, and etcd keeps the events. So no
//! watch ends as too slow.

use std::sync::Arc;

use etcd_client::{WatchOptions, WatchRequestSender, WatchResponseStream, proto::PbWatchResponse};
use futures_util::stream;
use tokio::sync::{mpsc, watch};
use tonic::Status;

use super::{
    Cluster,
    client::Client,
    convert,
    failure::{failure, is_transient, status},
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

/// Returns the compacted revision of etcd, which only the response to a watch from a compacted revision
/// contains.
pub(super) async fn compacted_revision(client: &Client) -> Result<Revision, Status> {
    let mut feed = Feed::open(client, &KeyRange::key("compacted"), 1).await?;
    loop {
        match feed.response().await? {
            Some(response) if response.canceled => return Ok(convert::from_wire(response.compact_revision)),
            Some(_) => {}
            None => return Err(Status::unavailable("the watch ended early")),
        }
    }
}

/// An open stream with one watch.
struct Feed {
    requests: WatchRequestSender,
    responses: WatchResponseStream,
    /// The revision of the store when the watch was created.
    created_at: Revision,
}

impl Feed {
    async fn open(client: &Client, range: &KeyRange, from: Revision) -> Result<Self, Status> {
        let (key, end) = convert::range(range);
        let options = WatchOptions::new()
            .with_range(end)
            .with_start_revision(convert::to_wire(from))
            .with_progress_notify()
            .with_prev_key();
        let (requests, responses) = client.watch(key, options).await?.split();
        let mut feed = Self { requests, responses, created_at: 0 };
        let created = feed.response().await?;
        let created = created.ok_or_else(|| Status::unavailable("the watch ended before it began"))?;
        feed.created_at = convert::revision(created.header);
        Ok(feed)
    }

    /// Returns the next response; `None` when the stream has ended.
    async fn response(&mut self) -> Result<Option<PbWatchResponse>, Status> {
        let response = self.responses.message().await.map_err(status)?;
        Ok(response.map(|response| response.0))
    }

    async fn request_progress(&mut self) -> Result<(), Status> {
        self.requests.request_progress().await.map_err(status)
    }
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
