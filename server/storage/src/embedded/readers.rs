//! The pool of read connections.

use std::path::PathBuf;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::{read::ReadTransaction, schema};
use crate::{Error, Result};

/// Maximum number of concurrent long reads; each holds a thread and a connection with its cache.
const LONG_READS: usize = 8;
/// Maximum number of idle connections.
const IDLE: usize = 4;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    long_reads: Semaphore,
    closed: AtomicBool,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default(), long_reads: Semaphore::new(LONG_READS), closed: AtomicBool::new(false) }
    }

    /// Runs a read in its own snapshot on this thread.
    pub(super) fn read<T>(&self, read: impl FnOnce(&ReadTransaction<'_>) -> Result<T>) -> Result<T> {
        let mut connection = self.take()?;
        let transaction = connection.transaction()?;
        let result = ReadTransaction::new(&transaction).and_then(|snapshot| read(&snapshot));
        transaction.finish()?;
        self.give_back(connection);
        result
    }

    /// Runs a potentially long read on a blocking thread.
    pub(super) async fn read_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&ReadTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _permit = self.long_reads.acquire().await.map_err(|_| Error::Closed)?;
        let readers = Arc::clone(self);
        tokio::task::spawn_blocking(move || readers.read(read)).await.map_err(Error::backend)?
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.long_reads.close();
        self.idle().clear();
    }

    fn take(&self) -> Result<Connection> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::Closed);
        }
        let idle = self.idle().pop();
        idle.map_or_else(|| schema::open_reader(&self.path), Ok)
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.idle();
        if idle.len() < IDLE && !self.closed.load(Ordering::Acquire) {
            idle.push(connection);
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner) // a list of connections has no broken state
    }
}
