//! The queue of requests for the writer: bounded by bytes, received in groups.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::{Error, Op, Result, Revision, Txn, TxnOutcome};

/// Maximum number of transactions that share an fsync. It bounds how long the first of them waits.
const GROUP: usize = 1024;
/// The memory cost of a queued request besides its key and value.
const REQUEST_OVERHEAD: usize = 256;

pub(super) type ReplySender<T> = oneshot::Sender<Result<T>>;

pub(super) enum Command {
    Commit(Commit),
    Compact { revision: Revision, answer: ReplySender<()> },
    Close { answer: Option<ReplySender<()>> },
}

pub(super) struct Commit {
    pub(super) txn: Txn,
    pub(super) answer: ReplySender<TxnOutcome>,
    _room: OwnedSemaphorePermit,
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
    pub(super) async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        // An oversized request takes the whole queue.
        let size = u32::try_from(size(&txn)).unwrap_or(u32::MAX).min(self.bytes);
        let room = Arc::clone(&self.room).acquire_many_owned(size).await.map_err(|_| Error::Closed)?;
        let (answer, answered) = oneshot::channel();
        self.send(Command::Commit(Commit { txn, answer, _room: room }))?;
        answered.await.map_err(|_| Error::Closed)?
    }

    pub(super) fn send(&self, command: Command) -> Result<()> {
        self.sender.send(command).map_err(|_| Error::Closed)
    }
}

fn size(txn: &Txn) -> usize {
    let value = match &txn.op {
        Op::Put { value, .. } => value.len(),
        Op::Delete => 0,
    };
    REQUEST_OVERHEAD + txn.key.len() + value
}

/// The writer's side of the queue.
pub(super) struct Requests {
    receiver: Receiver<Command>,
}

/// The requests of one database transaction.
#[derive(Default)]
pub(super) struct CommitGroup {
    pub(super) commits: Vec<Commit>,
    pub(super) compactions: Vec<(Revision, Option<ReplySender<()>>)>,
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
        self.close.is_none() && self.commits.len() < GROUP
    }

    fn add(&mut self, command: Command) {
        match command {
            Command::Commit(commit) => self.commits.push(commit),
            Command::Compact { revision, answer } => self.compactions.push((revision, Some(answer))),
            Command::Close { answer } => self.close = Some(answer),
        }
    }
}
