//! The embedded store: one directory, one writer, SQLite.
//!
//! A single writer thread takes queued transactions from a bounded queue and applies them in one
//! database transaction. It makes that durable with one fsync, notifies the watchers and then answers.
//! So concurrent writers share an fsync. Readers use connections of their own, each with a snapshot,
//! and never wait for the writer. `docs/decisions/0002-embedded-database.md` has the reasons for SQLite
//! and for these tables.
//!
//! | file | part |
//! |---|---|
//! | `directory` | the directory: checks, permissions, lock |
//! | `schema` | tables, pragmas, format version |
//! | `row` | a row of the history and its checksum |
//! | `read`, `readers` | reads from one snapshot; their connections |
//! | `transaction` | a database transaction of the writer |
//! | `writer`, `apply`, `queue` | the writer thread; its database transaction; the queue of requests |
//! | `write_id` | numbers of writes: revision and position |
//! | `full`, `query`, `transact`, `leases`, `hash` | the rest of etcd's model: its calls; ranges; transactions; leases; checksums |
//! | `snapshot` | saving a store while it runs, and restoring one |
//! | `health`, `space` | whether writes are accepted: free space, commits that hang, failures |
//! | `hub`, `watcher`, `watchers`, `watch` | fan-out to watchers; the queue of a watcher; the watchers of a key; the stream of one watcher, from the history to live events |

mod apply;
mod directory;
#[cfg(test)]
mod faults;
mod full;
mod hash;
mod health;
mod hub;
mod leases;
mod options;
mod query;
mod queue;
mod read;
mod readers;
mod row;
mod schema;
mod snapshot;
mod space;
mod transact;
mod transaction;
mod watch;
mod watcher;
mod watchers;
mod write_id;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
};

use async_trait::async_trait;
use tokio::sync::oneshot;

pub use self::space::SpaceLimits;
pub use self::watch::{EmbeddedWatch, WatchHandle};
use self::{
    health::StoreHealth,
    hub::Hub,
    leases::Leases,
    queue::{Command, Compaction, Job, Outcome, WriteQueue},
    readers::Readers,
    watch::Source,
    watcher::Watcher,
};
use crate::{
    CountResponse, Error, GetResponse, KeyRange, ListOptions, ListResponse, Result, Revision, Store, Txn, TxnOutcome,
    Watch, snapshot::Summary,
};
pub use options::EmbeddedOptions;

/// A store in a directory of its own.
///
/// ```
/// use storage::{EmbeddedOptions, EmbeddedStore, Store, Txn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let options = EmbeddedOptions { durable: false, ..EmbeddedOptions::default() };
/// let store = EmbeddedStore::open_with(dir.path().join("store"), options)?;
/// store.commit(Txn::put("/registry/things/a", "1")).await?;
///
/// let file = dir.path().join("snapshot");
/// let saved = EmbeddedStore::save(dir.path().join("store"), &file)?;
/// let restored = EmbeddedStore::restore(dir.path().join("copy"), &file)?;
/// assert_eq!((saved.keys, restored.keys), (1, 1));
/// # Ok(())
/// # }
/// ```
pub struct EmbeddedStore {
    queue: WriteQueue,
    readers: Arc<Readers>,
    hub: Arc<Hub>,
    condition: Arc<StoreHealth>,
    leases: Arc<Leases>,
    watch_queue_bytes: usize,
    path: PathBuf,
    writer: Option<JoinHandle<()>>,
}

impl EmbeddedStore {
    /// Opens the store in `dir`. Creates it when the directory does not exist or is empty.
    ///
    /// The call blocks for some milliseconds.
    ///
    /// # Errors
    /// [`Error::Locked`] when it is already open, [`Error::Foreign`] and [`Error::UnsupportedFormat`]
    /// when the directory holds something else, [`Error::Corrupt`] when the store is damaged.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(dir, EmbeddedOptions::default())
    }

    /// Opens the store in `dir` with other options.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open`].
    pub fn open_with(dir: impl AsRef<Path>, options: EmbeddedOptions) -> Result<Self> {
        let directory = directory::Directory::lock(dir.as_ref())?;
        let unreadable = |why: Error| why.of_file(&directory.database());
        let connection = schema::open(&directory, options.durable).map_err(unreadable)?;
        let state = read::Revisions::load(&connection).map_err(unreadable)?;
        let readers = Arc::new(Readers::new(directory.database()));
        let leases = Arc::new(Leases::load(&connection).map_err(unreadable)?);
        let hub = Arc::new(Hub::new(state.revision));
        let condition = Arc::new(StoreHealth::new());
        let (queue, requests) = queue::bounded(options.write_queue_bytes);
        let path = directory.path().to_owned();
        let shared =
            writer::Shared { hub: Arc::clone(&hub), condition: Arc::clone(&condition), leases: Arc::clone(&leases) };
        let writer = writer::WriterThread::new(directory, connection, state, shared, requests, &options);
        let writer = std::thread::Builder::new()
            .name("storage-writer".into())
            .spawn(move || writer.run())
            .map_err(Error::backend)?;
        let watch_queue_bytes = options.watch_queue_bytes;
        Ok(Self { queue, readers, hub, condition, leases, watch_queue_bytes, path, writer: Some(writer) })
    }
}

impl EmbeddedStore {
    /// Returns the database file in `dir`; recent writes are in a log beside it.
    pub fn database(dir: impl AsRef<Path>) -> PathBuf {
        directory::database(dir.as_ref())
    }
}

/// Snapshots. Both functions block for as long as it takes to read or write all keys.
impl EmbeddedStore {
    /// Writes the contents of the store in `dir` to a snapshot file.
    ///
    /// The store may be open, in any process.
    ///
    /// # Errors
    /// [`Error::Foreign`], [`Error::UnsupportedFormat`] and [`Error::Corrupt`] as [`EmbeddedStore::open`];
    /// [`Error::Snapshot`] when the file cannot be written.
    pub fn save(dir: impl AsRef<Path>, file: impl AsRef<Path>) -> Result<Summary> {
        snapshot::save(dir.as_ref(), file.as_ref())
    }

    /// Creates a store from a snapshot file in `dir`, which must be empty or not exist.
    ///
    /// # Errors
    /// [`Error::Snapshot`] when the file is damaged; [`Error::Occupied`], [`Error::Foreign`] and
    /// [`Error::Locked`] when the directory is not free. An interrupted restore leaves no store that
    /// opens.
    pub fn restore(dir: impl AsRef<Path>, file: impl AsRef<Path>) -> Result<Summary> {
        snapshot::restore(dir.as_ref(), file.as_ref())
    }
}

impl EmbeddedStore {
    async fn write(&self, job: Job) -> Result<Outcome> {
        self.queue.write(job).await.map_err(|error| match error {
            Error::Closed => self.condition.failure().unwrap_or(Error::Closed),
            other => other,
        })
    }

    fn source(&self) -> Source {
        Source { readers: Arc::clone(&self.readers), hub: Arc::clone(&self.hub) }
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse> {
        // Runs on this thread: it takes microseconds when the page is in memory, else one disk read.
        self.readers.read(|snapshot| snapshot.get(key, non_zero(revision)))
    }

    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
        self.readers
            .read_blocking(move |snapshot| snapshot.list(&range, options.limit, non_zero(options.revision)))
            .await
    }

    async fn count(&self, range: KeyRange) -> Result<CountResponse> {
        self.readers.read_blocking(move |snapshot| snapshot.count(&range)).await
    }

    async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        if txn.key.is_empty() {
            return Err(Error::EmptyKey);
        }
        match self.write(Job::Commit(txn)).await? {
            Outcome::Committed(outcome) => Ok(outcome),
            Outcome::Responded(_) | Outcome::Done => Err(Error::Closed), // the writer answers each job in kind
        }
    }

    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch> {
        let watcher = Arc::new(Watcher::new(range, self.watch_queue_bytes, true));
        watch::open(self.source(), watcher, non_zero(from)).await.map(Watch::new)
    }

    async fn request_progress(&self) -> Result<()> {
        self.hub.send_progress()
    }

    async fn compact(&self, revision: Revision) -> Result<()> {
        let compaction = |answer| Compaction { revision, answer: Some(answer), physical: false };
        self.queue.order(|answer| Command::Compact(compaction(answer))).await
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
            Ok(()) => answered.await.unwrap_or(Ok(())), // a concurrent call closed it first
            Err(_) => Ok(()),
        }
    }
}

impl Drop for EmbeddedStore {
    /// Closes the store and waits for the writer, so that the directory can be opened again at once.
    fn drop(&mut self) {
        self.readers.close();
        let _ = self.queue.send(Command::Close { answer: None }); // fails when closed already
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the writer thread of the store panicked");
        }
    }
}

/// Maps revision 0 of a request to the current revision, as etcd does.
fn non_zero(revision: Option<Revision>) -> Option<Revision> {
    revision.filter(|&revision| revision != 0)
}
