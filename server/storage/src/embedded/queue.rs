//! The queue of requests for the writer: bounded by bytes, received in groups.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::{
    Error, LeaseId, Op, Result, Revision, Txn, TxnOutcome,
    model::{Request, Response},
};

/// Maximum number of transactions that share an fsync. It bounds how long the first of them waits.
const GROUP: usize = 1024;
/// The memory cost of a queued request besides its key and value.
const REQUEST_OVERHEAD: usize = 256;

pub(super) type ReplySender<T> = oneshot::Sender<Result<T>>;

pub(super) enum Command {
    Write(Write),
    Compact(Compaction),
    Defragment { answer: ReplySender<()> },
    Close { answer: Option<ReplySender<()>> },
}

/// A request to write, with who waits for it.
pub(super) struct Write {
    pub(super) job: Job,
    pub(super) answer: ReplySender<Outcome>,
    _room: OwnedSemaphorePermit,
}

/// What to write.
pub(super) enum Job {
    Commit(Txn),
    Transact(Request),
    Grant { id: LeaseId, ttl: u64 },
    Revoke { id: LeaseId },
    RaiseAlarm { member: u64, kind: i32 },
    ClearAlarm { member: u64, kind: i32 },
}

/// The result of a [`Job`].
pub(super) enum Outcome {
    Committed(TxnOutcome),
    Responded(Response),
    Done,
}

pub(super) struct Compaction {
    pub(super) revision: Revision,
    /// Who waits for it; `None` for a periodic one.
    pub(super) answer: Option<ReplySender<()>>,
    /// Whether the answer comes after the invisible rows have been removed.
    pub(super) physical: bool,
}

/// Creates a queue for requests of at most this many bytes.
pub(super) fn bounded(bytes: u32) -> (WriteQueue, Requests) {
    let (sender, receiver) = channel();
    (WriteQueue { sender, room: Arc::new(Semaphore::new(bytes as usize)), bytes }, Requests { receiver })
}

/// The callers' side of the queue.
pub(super) struct WriteQueue {
    sender: Sender<Command>,
    room: Arc<Semaphore>,
    bytes: u32,
}

impl WriteQueue {
    /// Waits for space in the queue, then for the outcome.
    pub(super) async fn write(&self, job: Job) -> Result<Outcome> {
        // An oversized request takes the whole queue.
        let size = u32::try_from(job.size()).unwrap_or(u32::MAX).min(self.bytes);
        let room = Arc::clone(&self.room).acquire_many_owned(size).await.map_err(|_| Error::Closed)?;
        let (answer, answered) = oneshot::channel();
        self.send(Command::Write(Write { job, answer, _room: room }))?;
        answered.await.map_err(|_| Error::Closed)?
    }

    /// Sends a command that is answered without a result, and waits for the answer.
    pub(super) async fn order(&self, command: impl FnOnce(ReplySender<()>) -> Command) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        self.send(command(answer))?;
        answered.await.map_err(|_| Error::Closed)?
    }

    pub(super) fn send(&self, command: Command) -> Result<()> {
        self.sender.send(command).map_err(|_| Error::Closed)
    }
}

impl Job {
    fn size(&self) -> usize {
        let size = match self {
            Self::Commit(Txn { key, op: Op::Put { value, .. }, .. }) => key.len() + value.len(),
            Self::Commit(Txn { key, op: Op::Delete, .. }) => key.len(),
            Self::Transact(request) => request.size(),
            Self::Grant { .. } | Self::Revoke { .. } | Self::RaiseAlarm { .. } | Self::ClearAlarm { .. } => 0,
        };
        REQUEST_OVERHEAD + size
    }
}

/// The writer's side of the queue.
pub(super) struct Requests {
    receiver: Receiver<Command>,
}

/// The requests of one database transaction.
#[derive(Default)]
pub(super) struct CommitGroup {
    pub(super) writes: Vec<Write>,
    pub(super) compactions: Vec<Compaction>,
    pub(super) defragments: Vec<ReplySender<()>>,
    /// Set in the last group; the inner value is the channel of the caller that closes the store.
    pub(super) close: Option<Option<ReplySender<()>>>,
}

impl Requests {
    /// Takes all queued requests, or waits for the first one until the timeout.
    pub(super) fn receive(&self, timeout: Option<Duration>) -> CommitGroup {
        let mut group = CommitGroup::default();
        let first = match timeout {
            Some(timeout) => self.receiver.recv_timeout(timeout),
            None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match first {
            Ok(command) => group.add(command),
            Err(RecvTimeoutError::Timeout) => return group,
            Err(RecvTimeoutError::Disconnected) => group.close = Some(None),
        }
        while group.has_room()
            && let Ok(command) = self.receiver.try_recv()
        {
            group.add(command);
        }
        group
    }
}

impl CommitGroup {
    fn has_room(&self) -> bool {
        self.close.is_none() && self.writes.len() < GROUP
    }

    fn add(&mut self, command: Command) {
        match command {
            Command::Write(write) => self.writes.push(write),
            Command::Compact(compaction) => self.compactions.push(compaction),
            Command::Defragment { answer } => self.defragments.push(answer),
            Command::Close { answer } => self.close = Some(answer),
        }
    }
}
