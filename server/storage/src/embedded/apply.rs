//! Applies writes, compactions, expiry and purges within one database transaction.

use std::sync::Arc;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension};

use super::{
    health::Room,
    read::{Revisions, newest},
    row::HistoryRow,
};
use crate::{Error, Event, Op, Result, Revision, Txn, TxnOutcome, clock::unix_millis};

/// The changes of one database transaction; they take effect when it is committed.
pub(super) struct Changes<'a> {
    connection: &'a Connection,
    pub(super) state: Revisions,
    pub(super) events: Vec<Arc<Event>>,
    room: &'a Room,
}

/// A write that passed its comparison.
struct Write {
    row: HistoryRow,
    replaced: Option<HistoryRow>,
    expires_at: Option<u64>,
}

enum Decision {
    Write(Write),
    Answer(TxnOutcome),
}

impl<'a> Changes<'a> {
    pub(super) fn new(connection: &'a Connection, state: Revisions, room: &'a Room) -> Self {
        Self { connection, state, events: Vec::new(), room }
    }

    /// Compares and writes. The inner error concerns this transaction only, which has written nothing.
    /// After an outer error the whole group has to be rolled back.
    pub(super) fn commit(&mut self, txn: &Txn) -> Result<Result<TxnOutcome>> {
        match self.decide(txn) {
            Err(error) => Ok(Err(error)),
            Ok(Decision::Answer(outcome)) => Ok(Ok(outcome)),
            Ok(Decision::Write(write)) => {
                let event = self.write(write)?;
                let deleted = if matches!(txn.op, Op::Delete) { event.prev.clone() } else { None };
                Ok(Ok(TxnOutcome::Committed { revision: event.revision(), deleted }))
            }
        }
    }

    fn decide(&self, txn: &Txn) -> Result<Decision> {
        let replaced = newest(self.connection, &txn.key)?;
        let live = replaced.as_ref().filter(|row| row.is_live());
        let revision = self.state.revision;
        if txn.compare.is_some_and(|compare| compare != live.map_or(0, |row| row.kv.mod_revision)) {
            let current = replaced.and_then(HistoryRow::into_live);
            return Ok(Decision::Answer(TxnOutcome::Conflict { revision, current }));
        }
        if let Op::Put { value, .. } = &txn.op {
            self.room.admit(value.len(), live.map(|row| row.kv.value.len()))?;
        }
        let write = match (&txn.op, live) {
            (Op::Put { value, ttl_seconds }, _) => Write {
                row: HistoryRow::put(txn.key.clone(), value.clone(), revision + 1, replaced.as_ref()),
                expires_at: ttl_seconds.map(|seconds| expiry(seconds.get())),
                replaced,
            },
            (Op::Delete, Some(row)) => Write { row: HistoryRow::delete(revision + 1, row), expires_at: None, replaced },
            (Op::Delete, None) => {
                return Ok(Decision::Answer(TxnOutcome::Committed { revision, deleted: None }));
            }
        };
        Ok(Decision::Write(write))
    }

    fn write(&mut self, write: Write) -> Result<Arc<Event>> {
        let Write { row, replaced, expires_at } = write;
        row.insert(self.connection)?;
        row.make_current(self.connection, expires_at)?;
        self.state.revision = row.kv.mod_revision;
        let event = Arc::new(row.into_event(replaced));
        self.events.push(Arc::clone(&event));
        Ok(event)
    }

    /// Deletes keys with expired leases, the longest expired first.
    pub(super) fn expire(&mut self, limit: usize) -> Result<()> {
        for key in self.expired(limit)? {
            match self.decide(&Txn::delete(key.clone())) {
                Ok(Decision::Write(write)) => drop(self.write(write)?),
                Ok(Decision::Answer(_)) => {} // only existing keys have an expiry
                Err(error) => {
                    // Reads of the key still report the damage; its lease must not block the others.
                    tracing::error!(%error, "cannot delete a key with an expired lease; its expiry is removed");
                    self.connection.execute("UPDATE current SET expires_at = NULL WHERE key = ?1", [&key[..]])?;
                }
            }
        }
        Ok(())
    }

    fn expired(&self, limit: usize) -> Result<Vec<Bytes>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT key FROM current WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2")?;
        let keys = statement.query_map((unix_millis(), limit), |row| row.get::<_, Vec<u8>>(0).map(Bytes::from))?;
        Ok(keys.collect::<rusqlite::Result<_>>()?)
    }

    /// Refuses reads below a revision from now on; [`Changes::purge`] removes the rows later. The
    /// errors are those of [`Changes::commit`].
    pub(super) fn compact(&mut self, requested: Revision) -> Result<Result<()>> {
        let Revisions { revision: current, compacted, .. } = self.state;
        if requested > current {
            return Ok(Err(Error::FutureRevision { requested, current }));
        }
        if requested <= compacted {
            return Ok(Err(Error::Compacted { requested, compacted }));
        }
        self.connection.execute("UPDATE compaction SET compacted = ?1", [requested])?;
        self.state.compacted = requested;
        Ok(Ok(()))
    }

    /// Removes rows that the compaction made invisible, in at most `limit` revisions. A row is
    /// invisible when the next write of its key is compacted too. A delete is invisible as soon as it
    /// is compacted.
    pub(super) fn purge(&mut self, limit: usize) -> Result<()> {
        let Revisions { compacted, purged, .. } = self.state;
        if purged == compacted {
            return Ok(());
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT revision, prev_revision, version, key FROM history
             WHERE revision > ?1 AND revision <= ?2 ORDER BY revision LIMIT ?3",
        )?;
        let rows: Vec<(Revision, Revision, u64, Vec<u8>)> =
            statement.query_map((purged, compacted, limit), |row| row.try_into())?.collect::<rusqlite::Result<_>>()?;
        let mut delete_row = self.connection.prepare_cached("DELETE FROM history WHERE revision = ?1")?;
        let mut delete_key = self.connection.prepare_cached("DELETE FROM current WHERE key = ?1 AND revision = ?2")?;
        for (revision, prev_revision, version, key) in &rows {
            if *prev_revision != 0 {
                delete_row.execute([prev_revision])?;
            }
            if *version == 0 {
                delete_row.execute([revision])?;
                delete_key.execute((key, revision))?;
            }
        }
        let purged = rows.last().filter(|_| rows.len() == limit).map_or(compacted, |row| row.0);
        self.connection.prepare_cached("UPDATE compaction SET purged = ?1")?.execute([purged])?;
        self.state.purged = purged;
        Ok(())
    }
}

/// Returns when the next lease expires, in Unix milliseconds.
pub(super) fn next_expiry(connection: &Connection) -> Result<Option<u64>> {
    let mut statement = connection
        .prepare_cached("SELECT expires_at FROM current WHERE expires_at IS NOT NULL ORDER BY expires_at LIMIT 1")?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?)
}

fn expiry(ttl_seconds: u64) -> u64 {
    unix_millis().saturating_add(ttl_seconds.saturating_mul(1000)).min(i64::MAX as u64)
}
