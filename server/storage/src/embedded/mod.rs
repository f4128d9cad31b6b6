//! The embedded store: one directory, one writer, SQLite underneath.
//!
//! A single writer thread takes waiting transactions from a bounded queue, applies them in one database transaction,
//! makes that durable with one fsync, tells the watchers and only then answers: many writers share one fsync. Readers use
//! connections of their own, each reading a snapshot, and never wait for the writer. Why SQLite, and why these tables:
//! `docs/decisions/0002-embedded-database.md`.
//!
//! | file | part |
//! |---|---|
//! | `directory` | the directory: is it ours, the one-writer lock |
//! | `schema` | tables, pragmas, format version |
//! | `row` | a row of the history and its checksum |
//! | `read`, `readers` | reads of one snapshot; the connections they use |
//! | `writer`, `apply`, `queue` | the writer thread; what it does inside a transaction; how requests wait for it |
//! | `snapshot` | saving a store while it runs, and restoring one |
//! | `condition`, `space` | whether writes are taken: room on the disk, commits that hang, failures |
//! | `hub`, `watch` | fan-out to watchers; one watcher's stream from history into the present |

mod apply;
mod condition;
mod directory;
#[cfg(test)]
mod faults;
mod hub;
mod queue;
mod read;
mod readers;
mod row;
mod schema;
mod snapshot;
mod space;
mod watch;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::oneshot;

pub use self::space::SpaceLimits;
use self::{
    condition::Condition,
    hub::Hub,
    queue::{Command, Queue},
    readers::Readers,
};
use crate::{
    CountResponse, Error, GetResponse, KeyRange, ListOptions, ListResponse, Result, Revision, Store, Txn, TxnOutcome,
    Watch, snapshot::Summary,
};

/// How an embedded store behaves; the defaults suit a server.
#[derive(Clone, Debug)]
pub struct EmbeddedOptions {
    /// Every so often the store compacts to the revision it had so long ago (upstream's
    /// `--etcd-compaction-interval`); `None` never compacts by itself.
    pub compaction_interval: Option<Duration>,
    /// How long after a change idle watches are told the revision (etcd's `--watch-progress-notify-interval`).
    pub progress_interval: Duration,
    /// How many bytes of events may wait for one watcher before it is cut off.
    pub watch_queue_bytes: usize,
    /// How many bytes of requests may wait for the writer before further writers have to wait themselves.
    pub write_queue_bytes: u32,
    /// Whether what was acknowledged survives a power cut. Tests have no use for that, and it is what writes wait for.
    pub durable: bool,
    /// How much room there has to be on the disk. Without durability, nothing is reserved.
    pub space: SpaceLimits,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            compaction_interval: Some(Duration::from_secs(300)),
            progress_interval: Duration::from_secs(5),
            watch_queue_bytes: 16 << 20,
            write_queue_bytes: 32 << 20,
            durable: true,
            space: SpaceLimits::default(),
        }
    }
}

/// A store in a directory of its own.
pub struct EmbeddedStore {
    queue: Queue,
    readers: Arc<Readers>,
    hub: Arc<Hub>,
    condition: Arc<Condition>,
    writer: Option<JoinHandle<()>>,
}

impl EmbeddedStore {
    /// Opens the store in `dir`, creating it when the directory does not exist or is empty.
    ///
    /// It blocks for some milliseconds.
    ///
    /// # Errors
    /// [`Error::Locked`] when it is open already, [`Error::Foreign`] and [`Error::UnsupportedFormat`] when the directory
    /// holds something else, [`Error::Corrupt`] when the store is damaged.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(dir, EmbeddedOptions::default())
    }

    /// Opens the store in `dir` with other than the default options.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open`].
    pub fn open_with(dir: impl AsRef<Path>, options: EmbeddedOptions) -> Result<Self> {
        let directory = directory::Directory::lock(dir.as_ref())?;
        let unreadable = |why: Error| why.of_file(&directory.database());
        let connection = schema::open(&directory, options.durable).map_err(unreadable)?;
        let state = read::State::load(&connection).map_err(unreadable)?;
        let readers = Arc::new(Readers::new(directory.database()));
        let hub = Arc::new(Hub::new(state.revision, options.watch_queue_bytes));
        let condition = Arc::new(Condition::new());
        let (queue, requests) = queue::bounded(options.write_queue_bytes);
        let shared = (Arc::clone(&hub), Arc::clone(&condition));
        let writer = writer::Writer::new(directory, connection, state, shared, requests, &options);
        let writer = std::thread::Builder::new()
            .name("storage-writer".into())
            .spawn(move || writer.run())
            .map_err(Error::backend)?;
        Ok(Self { queue, readers, hub, condition, writer: Some(writer) })
    }
}

impl EmbeddedStore {
    /// The file in `dir` that most of the store is in; recent writes are in a log beside it.
    pub fn database(dir: impl AsRef<Path>) -> PathBuf {
        directory::database(dir.as_ref())
    }
}

/// Snapshots; both block for as long as reading or writing everything takes.
impl EmbeddedStore {
    /// Writes what the store in `dir` holds to a snapshot file. The store may be open, here or in another process.
    ///
    /// # Errors
    /// [`Error::Foreign`], [`Error::UnsupportedFormat`] and [`Error::Corrupt`] as [`EmbeddedStore::open`], [`Error::Snapshot`] when the file
    /// cannot be written.
    pub fn save(dir: impl AsRef<Path>, file: impl AsRef<Path>) -> Result<Summary> {
        snapshot::save(dir.as_ref(), file.as_ref())
    }

    /// Makes a store of a snapshot file in `dir`, which must be empty or not exist.
    ///
    /// # Errors
    /// [`Error::Snapshot`] when the file is damaged, [`Error::Occupied`], [`Error::Foreign`] and [`Error::Locked`] when the directory is not
    /// free. An interrupted restore leaves nothing that opens.
    pub fn restore(dir: impl AsRef<Path>, file: impl AsRef<Path>) -> Result<Summary> {
        snapshot::restore(dir.as_ref(), file.as_ref())
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse> {
        // Not worth another thread: microseconds when the page is in memory, one disk read when it is not.
        self.readers.read(|snapshot| snapshot.get(key, wanted(revision)))
    }

    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
        self.readers.read_blocking(move |snapshot| snapshot.list(&range, options.limit, wanted(options.revision))).await
    }

    async fn count(&self, range: KeyRange) -> Result<CountResponse> {
        self.readers.read_blocking(move |snapshot| snapshot.count(&range)).await
    }

    async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        if txn.key.is_empty() {
            return Err(Error::EmptyKey);
        }
        let outcome = self.queue.commit(txn).await;
        outcome.map_err(|error| match error {
            Error::Closed => self.condition.failure().unwrap_or(Error::Closed),
            other => other,
        })
    }

    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch> {
        watch::open(Arc::clone(&self.readers), Arc::clone(&self.hub), range, wanted(from)).await
    }

    async fn request_progress(&self) -> Result<()> {
        self.hub.send_progress()
    }

    async fn compact(&self, revision: Revision) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        self.queue.send(Command::Compact { revision, answer })?;
        answered.await.map_err(|_| Error::Closed)?
    }

    async fn current_revision(&self) -> Result<Revision> {
        self.hub.revision()
    }

    fn check_writable(&self) -> Result<()> {
        self.condition.check()
    }

    async fn failed(&self) -> Error {
        self.condition.failed().await
    }

    async fn close(&self) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        self.readers.close();
        match self.queue.send(Command::Close { answer: Some(answer) }) {
            Ok(()) => answered.await.unwrap_or(Ok(())), // another call closed it first
            Err(_) => Ok(()),
        }
    }
}

impl Drop for EmbeddedStore {
    /// Closes the store, waiting for the writer so that the directory can be opened again at once.
    fn drop(&mut self) {
        self.readers.close();
        let _ = self.queue.send(Command::Close { answer: None }); // closed already
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the writer of the store panicked");
        }
    }
}

/// In requests revision 0 is the current one, as in etcd.
fn wanted(revision: Option<Revision>) -> Option<Revision> {
    revision.filter(|&revision| revision != 0)
}
