//! The state that the services share.

use std::sync::Arc;

use prost::Message;
use storage::{EmbeddedStore, Revision, Store};
use tokio::sync::watch;
use tonic::Status;

use crate::{
    alarms::Alarms,
    answer::{Answer, of_store},
    convert::signed,
    member::{Member, TERM},
    metrics::Metrics,
    options::Limits,
    proto::ResponseHeader,
};

/// What etcd adds to a request before it compares it with the maximum.
const ENVELOPE_BYTES: usize = 18;

/// A served store.
pub(crate) struct Etcd {
    pub(crate) store: Arc<EmbeddedStore>,
    pub(crate) member: Member,
    pub(crate) alarms: Alarms,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    /// Becomes true when the server stops.
    pub(crate) stopping: watch::Sender<bool>,
}

impl Etcd {
    /// The header of a response at a revision.
    pub(crate) fn header_at(&self, revision: Revision) -> ResponseHeader {
        ResponseHeader {
            cluster_id: self.member.cluster_id,
            member_id: self.member.id,
            revision: signed(revision),
            raft_term: TERM,
        }
    }

    /// The header of a response at the current revision.
    pub(crate) async fn header(&self) -> Result<ResponseHeader, Status> {
        Ok(self.header_at(self.revision().await?))
    }

    pub(crate) async fn revision(&self) -> Result<Revision, Status> {
        self.store.current_revision().await.map_err(of_store)
    }

    /// Refuses a write that is too large.
    pub(crate) fn check_size(&self, request: &impl Message) -> Result<(), Status> {
        match request.encoded_len() + ENVELOPE_BYTES > self.limits.max_request_bytes {
            true => Err(Answer::REQUEST_TOO_LARGE.into()),
            false => Ok(()),
        }
    }

    /// Waits until the server stops.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        let _ = stopping.wait_for(|stopping| *stopping).await; // the sender lives as long as `self`
    }
}
