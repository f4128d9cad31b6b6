//! The messages of one watch of etcd.

use etcd_client::proto::PbWatchResponse;
use etcd_client::{WatchOptions, WatchRequestSender, WatchResponseStream};
use tonic::Status;

use super::client::Client;
use super::convert;
use super::failure::status;
use crate::{KeyRange, Result, Revision};

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
pub(super) struct Feed {
    requests: WatchRequestSender,
    responses: WatchResponseStream,
    /// The revision of the store when the watch was created.
    pub(super) created_at: Revision,
}

impl Feed {
    pub(super) async fn open(client: &Client, range: &KeyRange, from: Revision) -> Result<Self, Status> {
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
    pub(super) async fn response(&mut self) -> Result<Option<PbWatchResponse>, Status> {
        let response = self.responses.message().await.map_err(status)?;
        Ok(response.map(|response| response.0))
    }

    pub(super) async fn request_progress(&mut self) -> Result<(), Status> {
        self.requests.request_progress().await.map_err(status)
    }
}
