//! How requests wait for the writer: bounded by bytes, taken in groups.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::{Error, Op, Result, Revision, Txn, TxnOutcome};

/// How many transactions share one fsync at most, so that the first of them does not wait for too many others.
const GROUP: usize = 1024;
/// What a waiting request costs besides its key and value.
const REQUEST_OVERHEAD: usize = 256;

pub(super) type Answer<T> = oneshot::Sender<Result<T>>;

pub(super) enum Command {
    Commit(Commit),
    Compact { revision: Revision, answer: Answer<()> },
    Close { answer: Option<Answer<()>> },
}

pub(super) struct Commit {
    pub(super) txn: Txn,
    pub(super) answer: Answer<TxnOutcome>,
    _room: OwnedSemaphorePermit,
}

/// Makes a queue in which requests of so many bytes may wait.
pub(super) fn bounded(bytes: u32) -> (Queue, Requests) {
    let (sender, receiver) = channel();
    (Queue { sender, room: Arc::new(Semaphore::new(bytes as usize)), bytes }, Requests { receiver })
}

/// The end of the queue that callers see.
pub(super) struct Queue {
    sender: Sender<Command>,
    room: Arc<Semaphore>,
    bytes: u32,
}

impl Queue {
    /// Waits for room, then for the outcome.
    pub(super) async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        let size = u32::try_from(size(&txn)).unwrap_or(u32::MAX).min(self.bytes); // an oversized one waits for all the room
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

/// The end of the queue that the writer sees.
pub(super) struct Requests {
    receiver: Receiver<Command>,
}

/// What the writer does in one database transaction.
#[derive(Default)]
pub(super) struct Group {
    pub(super) commits: Vec<Commit>,
    pub(super) compactions: Vec<(Revision, Option<Answer<()>>)>,
    /// Whether this is the last group, and who wants to know that it is done.
    pub(super) close: Option<Option<Answer<()>>>,
}

impl Requests {
    /// Takes everything that waits, or waits for something until the timeout.
    pub(super) fn receive(&self, timeout: Option<Duration>) -> Group {
        let mut group = Group::default();
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

impl Group {
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
