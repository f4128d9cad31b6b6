//! Applies writes, compactions, expiry and purges within one database transaction.

use std::sync::Arc;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Params};

use super::{
    health::Room,
    leases::{self, Leases},
    queue::{Job, Outcome},
    read::{Revisions, newest},
    row::HistoryRow,
    write_id::WriteId,
};
use crate::{Error, Event, LeaseId, Op, Result, Revision, Txn, TxnOutcome, clock::unix_millis};

/// The changes of one database transaction; they take effect when it is committed.
pub(super) struct Changes<'a> {
    pub(super) connection: &'a Connection,
    pub(super) state: Revisions,
    pub(super) events: Vec<Arc<Event>>,
    pub(super) room: &'a Room,
    /// When the first of the written keys expires, in Unix milliseconds.
    pub(super) first_expiry: Option<u64>,
    /// Whether the database refused a write. The database transaction has to be rolled back then.
    pub(super) is_broken: bool,
}

/// A write that passed its comparison.
pub(super) struct Write {
    pub(super) row: HistoryRow,
    pub(super) replaced: Option<HistoryRow>,
    pub(super) expires_at: Option<u64>,
}

enum Decision {
    Write(Write),
    Answer(TxnOutcome),
}

impl<'a> Changes<'a> {
    pub(super) fn new(connection: &'a Connection, state: Revisions, room: &'a Room) -> Self {
        Self { connection, state, events: Vec::new(), room, first_expiry: None, is_broken: false }
    }

    /// Carries out a request to write. The errors are those of [`Changes::commit`].
    pub(super) fn perform(&mut self, job: &Job) -> Result<Result<Outcome>> {
        let outcome = match job {
            Job::Commit(txn) => return Ok(self.commit(txn)?.map(Outcome::Committed)),
            Job::Transact(request) => self.transact(request).map(Outcome::Responded),
            Job::Grant { id, ttl } => self.grant(*id, *ttl).map(|()| Outcome::Done),
            Job::Revoke { id } => self.revoke(*id).map(|()| Outcome::Done),
            Job::RaiseAlarm { member, kind } => self.raise_alarm(*member, *kind).map(|()| Outcome::Done),
            Job::ClearAlarm { member, kind } => self.clear_alarm(*member, *kind).map(|()| Outcome::Done),
        };
        match outcome {
            Err(error) if self.is_broken => Err(error),
            outcome => Ok(outcome),
        }
    }

    fn grant(&mut self, id: LeaseId, ttl: u64) -> Result<()> {
        if leases::ttl(self.connection, id)?.is_some() {
            return Err(Error::LeaseExists);
        }
        let inserted = leases::insert(self.connection, id, ttl);
        self.noted(inserted)
    }

    fn raise_alarm(&mut self, member: u64, kind: i32) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO alarm (member, kind) VALUES (?1, ?2)";
        let inserted = execute(self.connection, sql, (member.cast_signed(), kind));
        self.noted(inserted)
    }

    fn clear_alarm(&mut self, member: u64, kind: i32) -> Result<()> {
        let sql = "DELETE FROM alarm WHERE member = ?1 AND kind = ?2";
        let deleted = execute(self.connection, sql, (member.cast_signed(), kind));
        self.noted(deleted)
    }

    /// Notes when the database refused a write.
    pub(super) fn noted<T>(&mut self, written: Result<T>) -> Result<T> {
        self.is_broken |= written.is_err();
        written
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
        let id = WriteId::first(revision + 1);
        let write = match (&txn.op, live) {
            (Op::Put { value, ttl_seconds }, _) => Write {
                row: HistoryRow::put(id, txn.key.clone(), value.clone(), 0, replaced.as_ref()),
                expires_at: ttl_seconds.map(|seconds| expiry(seconds.get())),
                replaced,
            },
            (Op::Delete, Some(row)) => Write { row: HistoryRow::delete(id, row), expires_at: None, replaced },
            (Op::Delete, None) => {
                return Ok(Decision::Answer(TxnOutcome::Committed { revision, deleted: None }));
            }
        };
        Ok(Decision::Write(write))
    }

    pub(super) fn write(&mut self, write: Write) -> Result<Arc<Event>> {
        let Write { row, replaced, expires_at } = write;
        let connection = self.connection;
        let written = row.insert(connection).and_then(|()| row.make_current(connection, expires_at));
        self.noted(written)?;
        self.first_expiry = self.first_expiry.into_iter().chain(expires_at).min();
        self.state.revision = row.kv.mod_revision;
        let event = Arc::new(row.into_event(replaced));
        self.events.push(Arc::clone(&event));
        Ok(event)
    }

    /// Revokes expired leases, the longest expired first, and returns them.
    pub(super) fn expire_leases(&mut self, leases: &Leases, limit: usize) -> Result<Vec<LeaseId>> {
        let expired = leases.expired(limit);
        for &id in &expired {
            match self.revoke(id) {
                Ok(()) | Err(Error::LeaseNotFound) => {}
                Err(error) if self.is_broken => return Err(error),
                Err(error) => {
                    // Reads of the key still report the damage; its lease must not block the others.
                    tracing::error!(%error, lease = id, "cannot delete the keys of an expired lease; they stay");
                    self.connection.execute("UPDATE current SET lease = NULL WHERE lease = ?1", [id])?;
                    leases::remove(self.connection, id)?;
                }
            }
        }
        Ok(expired)
    }

    /// Deletes keys with expired times, the longest expired first.
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
    /// is compacted. The writes of the compacted revision itself count as not compacted here.
    pub(super) fn purge(&mut self, limit: usize) -> Result<()> {
        if !self.state.has_garbage() {
            return Ok(());
        }
        let Revisions { compacted, purged, .. } = self.state;
        let end = WriteId::first(compacted);
        let mut statement = self.connection.prepare_cached(
            "SELECT id, prev_id, version, key FROM history WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
        )?;
        let rows: Vec<(WriteId, WriteId, u64, Vec<u8>)> =
            statement.query_map((purged, end, limit), |row| row.try_into())?.collect::<rusqlite::Result<_>>()?;
        let mut delete_row = self.connection.prepare_cached("DELETE FROM history WHERE id = ?1")?;
        let mut delete_key = self.connection.prepare_cached("DELETE FROM current WHERE key = ?1 AND id = ?2")?;
        for (id, prev, version, key) in &rows {
            if !prev.is_none() {
                delete_row.execute([prev])?;
            }
            if *version == 0 {
                delete_row.execute([id])?;
                delete_key.execute((key, id))?;
            }
        }
        let purged = rows.last().filter(|_| rows.len() == limit).map_or(end, |row| row.0.next());
        self.connection.prepare_cached("UPDATE compaction SET purged = ?1")?.execute([purged])?;
        self.state.purged = purged;
        Ok(())
    }
}

/// Executes a statement that writes.
pub(super) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<()> {
    connection.prepare_cached(sql)?.execute(params)?;
    Ok(())
}

/// Returns when the next key expires, in Unix milliseconds.
pub(super) fn next_expiry(connection: &Connection) -> Result<Option<u64>> {
    let mut statement = connection
        .prepare_cached("SELECT expires_at FROM current WHERE expires_at IS NOT NULL ORDER BY expires_at LIMIT 1")?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?)
}

fn expiry(ttl_seconds: u64) -> u64 {
    unix_millis().saturating_add(ttl_seconds.saturating_mul(1000)).min(i64::MAX as u64)
}
