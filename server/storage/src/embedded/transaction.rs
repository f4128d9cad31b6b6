//! A transaction that is begun and ended by statements which are kept: those of rusqlite are compiled anew each time.

use rusqlite::Connection;

/// A write transaction; rolled back unless it is committed.
pub(super) struct Transaction<'a> {
    connection: &'a Connection,
}

impl<'a> Transaction<'a> {
    pub(super) fn begin(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self { connection })
    }

    /// Makes the changes durable.
    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.connection.is_autocommit() {
            return; // committed, or rolled back by SQLite after an error
        }
        if let Err(error) = self.connection.execute_batch("ROLLBACK") {
            tracing::error!(%error, "a transaction that failed cannot be rolled back");
        }
    }
}
