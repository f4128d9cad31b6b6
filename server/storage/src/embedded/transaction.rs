//! A database transaction of the writer.

use rusqlite::Connection;

/// A database transaction that is rolled back when it is dropped before [`WriteTransaction::commit`].
///
/// Unlike [`rusqlite::Transaction`], it prepares its statements once per connection: SQLite would
/// otherwise parse them for each group of writes.
pub(super) struct WriteTransaction<'a> {
    connection: &'a Connection,
}

impl<'a> WriteTransaction<'a> {
    /// Begins a transaction with the lock of the writer.
    pub(super) fn begin(connection: &'a Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self { connection })
    }

    pub(super) fn connection(&self) -> &'a Connection {
        self.connection
    }

    /// Makes the changes durable. After an error, the transaction is rolled back.
    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "cannot roll back a transaction");
        }
    }
}
