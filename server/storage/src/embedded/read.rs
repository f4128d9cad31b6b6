//! Reads from one snapshot of the database.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row};

use super::{
    row::{HistoryRow, columns},
    write_id::WriteId,
};
use crate::{CountResponse, Error, Event, GetResponse, KeyRange, KeyValue, ListResponse, Result, Revision};

/// Limits of one chunk of history for a watcher, so that no read transaction stays open for long.
const CHUNK_ROWS: usize = 10_000;
const CHUNK_BYTES: usize = 1 << 20;
/// The revision of the first write of a store. A new store is at revision 1, as a new etcd.
const FIRST_WRITE: Revision = 2;

/// The revisions of the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Revisions {
    pub(super) revision: Revision,
    /// Reads and watches below this revision are refused.
    pub(super) compacted: Revision,
    /// Rows that became invisible have been removed before this write.
    pub(super) purged: WriteId,
}

impl Revisions {
    pub(super) fn load(connection: &Connection) -> Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT ifnull((SELECT max(id) FROM history), 0), compacted, purged FROM compaction WHERE id = 0",
        )?;
        let (last, compacted, purged): (WriteId, _, _) = statement.query_row([], |row| row.try_into())?;
        // A compaction may have removed the newest row if it was a delete. A new etcd starts at revision 1.
        Ok(Self { revision: Revision::max(last.revision(), compacted).max(1), compacted, purged })
    }

    /// Returns whether rows are left that the compaction made invisible. The rows of the compacted
    /// revision itself stay until the next compaction, because a watch can begin there.
    pub(super) fn has_garbage(&self) -> bool {
        self.purged < WriteId::first(self.compacted)
    }

    /// Returns the revision to read at, or an error if it cannot be read.
    pub(super) fn at(&self, revision: Option<Revision>) -> Result<Revision> {
        let Self { revision: current, compacted, .. } = *self;
        match revision {
            None => Ok(current),
            Some(requested) if requested > current => Err(Error::FutureRevision { requested, current }),
            Some(requested) if requested < compacted => Err(Error::Compacted { requested, compacted }),
            Some(requested) => Ok(requested),
        }
    }
}

/// A connection in a read transaction.
pub(super) struct ReadTransaction<'a> {
    connection: &'a Connection,
    state: Revisions,
}

/// A part of the history for one watcher.
pub(super) struct HistoryChunk {
    pub(super) events: Vec<Arc<Event>>,
    /// The first revision after the chunk.
    pub(super) next: Revision,
}

/// The last write of a key up to a revision.
struct LastWrite {
    id: WriteId,
    /// Whether it was a put.
    live: bool,
}

impl<'a> ReadTransaction<'a> {
    pub(super) fn new(connection: &'a Connection) -> Result<Self> {
        Ok(Self { connection, state: Revisions::load(connection)? })
    }

    /// Reads with a connection that is in the middle of a transaction of the writer.
    pub(super) fn of_writer(connection: &'a Connection, state: Revisions) -> Self {
        Self { connection, state }
    }

    pub(super) fn connection(&self) -> &'a Connection {
        self.connection
    }

    pub(super) fn state(&self) -> Revisions {
        self.state
    }

    pub(super) fn revision(&self) -> Revision {
        self.state.revision
    }

    pub(super) fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse> {
        let at = self.state.at(revision)?;
        let row = match newest(self.connection, key)? {
            Some(row) => self.row_at(row, at)?,
            None => None,
        };
        Ok(GetResponse { kv: row.and_then(HistoryRow::into_live), revision: self.state.revision })
    }

    pub(super) fn list(&self, range: &KeyRange, limit: usize, revision: Option<Revision>) -> Result<ListResponse> {
        let at = self.state.at(revision)?;
        let mut kvs: Vec<KeyValue> = Vec::new();
        let mut more = false;
        self.scan(range, |row| {
            if let Some(kv) = self.row_at(row, at)?.and_then(HistoryRow::into_live) {
                more = limit != 0 && kvs.len() == limit;
                if !more {
                    kvs.push(kv);
                }
            }
            Ok(!more)
        })?;
        let count = if more { self.count_at(range, at)? } else { kvs.len() as u64 };
        Ok(ListResponse { kvs, more, count, revision: self.state.revision })
    }

    pub(super) fn count(&self, range: &KeyRange) -> Result<CountResponse> {
        Ok(CountResponse { count: self.count_at(range, self.state.revision)?, revision: self.state.revision })
    }

    /// Returns the events of a range from a revision on, as many as fit into a chunk.
    pub(super) fn events(&self, range: &KeyRange, from: Revision) -> Result<HistoryChunk> {
        let Revisions { revision: current, compacted, purged } = self.state;
        // Rows at the compacted revision are complete, unless the store comes from a snapshot or an old format.
        if from < compacted || WriteId::first(from) < purged {
            return Err(Error::Compacted { requested: from, compacted });
        }
        let from = from.max(FIRST_WRITE);
        let mut chunk = HistoryChunk { events: Vec::new(), next: from };
        let (mut rows_read, mut bytes, mut expected) = (0, 0, WriteId::first(from));
        let mut statement = self.connection.prepare_cached("SELECT id, key FROM history WHERE id >= ?1 ORDER BY id")?;
        let mut rows = statement.query([expected])?;
        while let Some(row) = rows.next()? {
            let id: WriteId = row.get(0)?;
            let key = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            // A chunk has all writes of a revision.
            if id.position() == 0 && (rows_read >= CHUNK_ROWS || bytes >= CHUNK_BYTES) {
                break;
            }
            // No write after the compacted revision may be missing.
            if id != expected && id != WriteId::first(chunk.next) {
                return Err(missing(key, expected.revision()));
            }
            if range.contains(key) {
                let event = self.event(key, id)?;
                bytes += event.kv.value.len() + event.prev.as_ref().map_or(0, |prev| prev.value.len());
                chunk.events.push(Arc::new(event));
            }
            rows_read += 1;
            expected = id.next();
            chunk.next = id.revision() + 1;
        }
        if chunk.next == from && from <= current {
            return Err(missing(range.start(), from));
        }
        Ok(chunk)
    }

    fn event(&self, key: &[u8], id: WriteId) -> Result<Event> {
        let row = HistoryRow::load(self.connection, id)?.ok_or_else(|| missing(key, id.revision()))?;
        // The state before the compacted revision cannot be read any more.
        let prev = if id.revision() > self.state.compacted { self.row_before(&row)? } else { None };
        Ok(row.into_event(prev))
    }

    /// Returns the row of a key at a revision, given its newest row.
    pub(super) fn row_at(&self, newest: HistoryRow, at: Revision) -> Result<Option<HistoryRow>> {
        if newest.kv.mod_revision <= at {
            return Ok(Some(newest));
        }
        match self.last_write(&newest.kv.key, newest.prev, at)? {
            Some(write) => HistoryRow::load(self.connection, write.id),
            None => Ok(None),
        }
    }

    /// Returns the last write of a key up to a revision. Follows the writes back from `from` without
    /// reading values.
    fn last_write(&self, key: &[u8], from: WriteId, at: Revision) -> Result<Option<LastWrite>> {
        let mut link = self.connection.prepare_cached("SELECT prev_id, version > 0 FROM history WHERE id = ?1")?;
        let mut id = from;
        while !id.is_none() {
            let found: Option<(WriteId, bool)> = link.query_row([id], |row| row.try_into()).optional()?;
            match found {
                Some((_, live)) if id.revision() <= at => return Ok(Some(LastWrite { id, live })),
                Some((prev, _)) => id = prev,
                None if id.revision() > self.state.compacted => return Err(missing(key, id.revision())),
                None => return Ok(None), // a delete that was compacted
            }
        }
        Ok(None)
    }

    fn row_before(&self, row: &HistoryRow) -> Result<Option<HistoryRow>> {
        if row.prev.is_none() {
            return Ok(None);
        }
        let before = HistoryRow::load(self.connection, row.prev)?;
        // Only a compacted delete may be missing.
        if before.is_none() && row.prev.revision() > self.state.compacted {
            return Err(missing(&row.kv.key, row.prev.revision()));
        }
        Ok(before)
    }

    pub(super) fn count_at(&self, range: &KeyRange, at: Revision) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM current c WHERE {} AND c.live = 1 AND c.id <= ?3", bounds(range));
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (start, end) = keys(range);
        let mut count: u64 = statement.query_row((start, end, WriteId::last(at)), |row| row.get(0))?;
        if at < self.state.revision {
            count += self.count_changed_since(range, at)?;
        }
        Ok(count)
    }

    /// Counts the keys that existed at a revision, among those that have changed since.
    fn count_changed_since(&self, range: &KeyRange, at: Revision) -> Result<u64> {
        let sql = format!("SELECT c.key, c.id FROM current c WHERE {} AND c.id > ?3", bounds(range));
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (start, end) = keys(range);
        let mut rows = statement.query((start, end, WriteId::last(at)))?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let key = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            count += u64::from(self.last_write(key, row.get(1)?, at)?.is_some_and(|write| write.live));
        }
        Ok(count)
    }

    /// Visits every existing key in order, with its expiry. A key with a lease expires after the whole
    /// lifetime of the lease from `now` on, as it does when the store is opened.
    pub(super) fn visit_live(
        &self,
        now: u64,
        mut visit: impl FnMut(HistoryRow, Option<u64>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(LIVE)?;
        let mut rows = statement.query([now])?;
        while let Some(row) = rows.next()? {
            visit(read_newest(row)?, row.get("expires_at")?)?;
        }
        Ok(())
    }

    /// Visits the newest rows of a range in key order until the visitor returns `false`.
    pub(super) fn scan(&self, range: &KeyRange, mut visit: impl FnMut(HistoryRow) -> Result<bool>) -> Result<()> {
        let sql = format!("{NEWEST} WHERE {} ORDER BY c.key", bounds(range));
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(keys(range))?;
        while let Some(row) = rows.next()? {
            if !visit(read_newest(row)?)? {
                break;
            }
        }
        Ok(())
    }
}

const NEWEST: &str = concat!("SELECT c.key, c.id, ", columns!(), " FROM current c LEFT JOIN history h ON h.id = c.id");
const LIVE: &str = concat!(
    "SELECT c.key, c.id, ",
    columns!(),
    ", ifnull(c.expires_at, ?1 + l.ttl * 1000) AS expires_at",
    " FROM current c LEFT JOIN history h ON h.id = c.id LEFT JOIN lease l ON l.id = c.lease",
    " WHERE c.live = 1 ORDER BY c.key"
);
const NEWEST_OF_KEY: &str =
    concat!("SELECT c.key, c.id, ", columns!(), " FROM current c LEFT JOIN history h ON h.id = c.id WHERE c.key = ?1");

/// Returns the newest row of a key: its last put, or its delete while that is kept.
pub(super) fn newest(connection: &Connection, key: &[u8]) -> Result<Option<HistoryRow>> {
    let mut statement = connection.prepare_cached(NEWEST_OF_KEY)?;
    statement.query_row([key], |row| Ok(read_newest(row))).optional()?.transpose()
}

fn read_newest(row: &Row<'_>) -> Result<HistoryRow> {
    let key = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
    let id: WriteId = row.get(1)?;
    if row.get::<_, Option<WriteId>>(2)?.is_none() {
        return Err(missing(key, id.revision()));
    }
    let found = HistoryRow::read(row, 2)?;
    if found.kv.key != key {
        return Err(Error::corrupt(key, format!("revision {} belongs to another key", id.revision())));
    }
    Ok(found)
}

/// Returns the SQL condition of a range with start and end as the first two parameters.
fn bounds(range: &KeyRange) -> &'static str {
    // `OR` in one condition for both cases would make SQLite scan past the end of the range.
    if range.end().is_some() { "c.key >= ?1 AND c.key < ?2" } else { "c.key >= ?1 AND ?2 IS NULL" }
}

fn keys(range: &KeyRange) -> (&[u8], Option<&[u8]>) {
    (range.start(), range.end().map(|end| &end[..]))
}

fn missing(key: &[u8], revision: Revision) -> Error {
    Error::corrupt(key, format!("revision {revision} is missing from the history"))
}
