//! Reads from one snapshot of the database.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row};

use super::row::{HistoryRow, columns};
use crate::{CountResponse, Error, Event, GetResponse, KeyRange, KeyValue, ListResponse, Result, Revision};

/// Limits of one chunk of history for a watcher, so that no read transaction stays open for long.
const CHUNK_ROWS: usize = 10_000;
const CHUNK_BYTES: usize = 1 << 20;

/// The revisions of the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Revisions {
    pub(super) revision: Revision,
    /// Reads below this revision and watches up to it are refused.
    pub(super) compacted: Revision,
    /// Rows that became invisible have been removed up to this revision.
    pub(super) purged: Revision,
}

impl Revisions {
    pub(super) fn load(connection: &Connection) -> Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT ifnull((SELECT max(revision) FROM history), 0), compacted, purged FROM compaction WHERE id = 0",
        )?;
        let (last, compacted, purged) = statement.query_row([], |row| row.try_into())?;
        // A compaction may have removed the newest row if it was a delete. A new etcd starts at revision 1.
        Ok(Self { revision: Revision::max(last, compacted).max(1), compacted, purged })
    }

    /// Returns the revision to read at, or an error if it cannot be read.
    fn at(&self, revision: Option<Revision>) -> Result<Revision> {
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
    revision: Revision,
    /// Whether it was a put.
    live: bool,
}

impl<'a> ReadTransaction<'a> {
    pub(super) fn new(connection: &'a Connection) -> Result<Self> {
        Ok(Self { connection, state: Revisions::load(connection)? })
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
        let Revisions { revision: current, compacted, .. } = self.state;
        if from <= compacted {
            return Err(Error::Compacted { requested: from, compacted });
        }
        let mut chunk = HistoryChunk { events: Vec::new(), next: from };
        let mut bytes = 0;
        let mut statement = self
            .connection
            .prepare_cached("SELECT revision, key FROM history WHERE revision >= ?1 ORDER BY revision LIMIT ?2")?;
        let mut rows = statement.query((from, CHUNK_ROWS))?;
        while let Some(row) = rows.next()?
            && bytes < CHUNK_BYTES
        {
            let revision: Revision = row.get(0)?;
            let key = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            if revision != chunk.next {
                return Err(missing(key, chunk.next)); // every revision above the compacted one has a row
            }
            if range.contains(key) {
                let event = self.event(key, revision)?;
                bytes += event.kv.value.len() + event.prev.as_ref().map_or(0, |prev| prev.value.len());
                chunk.events.push(Arc::new(event));
            }
            chunk.next += 1;
        }
        if chunk.next == from && from <= current {
            return Err(missing(range.start(), from));
        }
        Ok(chunk)
    }

    fn event(&self, key: &[u8], revision: Revision) -> Result<Event> {
        let row = HistoryRow::load(self.connection, revision)?.ok_or_else(|| missing(key, revision))?;
        let prev = self.row_before(&row)?;
        Ok(row.into_event(prev))
    }

    /// Returns the row of a key at a revision, given its newest row.
    fn row_at(&self, newest: HistoryRow, at: Revision) -> Result<Option<HistoryRow>> {
        if newest.kv.mod_revision <= at {
            return Ok(Some(newest));
        }
        match self.last_write(&newest.kv.key, newest.prev_revision, at)? {
            Some(write) => HistoryRow::load(self.connection, write.revision),
            None => Ok(None),
        }
    }

    /// Returns the last write of a key up to a revision. Follows the writes back from `from` without
    /// reading values.
    fn last_write(&self, key: &[u8], from: Revision, at: Revision) -> Result<Option<LastWrite>> {
        let mut link =
            self.connection.prepare_cached("SELECT prev_revision, version > 0 FROM history WHERE revision = ?1")?;
        let mut revision = from;
        while revision != 0 {
            let found: Option<(Revision, bool)> = link.query_row([revision], |row| row.try_into()).optional()?;
            match found {
                Some((_, live)) if revision <= at => return Ok(Some(LastWrite { revision, live })),
                Some((prev_revision, _)) => revision = prev_revision,
                None if revision > self.state.compacted => return Err(missing(key, revision)),
                None => return Ok(None), // a delete that was compacted
            }
        }
        Ok(None)
    }

    fn row_before(&self, row: &HistoryRow) -> Result<Option<HistoryRow>> {
        if row.prev_revision == 0 {
            return Ok(None);
        }
        let before = HistoryRow::load(self.connection, row.prev_revision)?;
        // Only a compacted delete may be missing.
        if before.is_none() && row.prev_revision > self.state.compacted {
            return Err(missing(&row.kv.key, row.prev_revision));
        }
        Ok(before)
    }

    fn count_at(&self, range: &KeyRange, at: Revision) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM current c WHERE {} AND c.live = 1 AND c.revision <= ?3", bounds(range));
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (start, end) = keys(range);
        let mut count: u64 = statement.query_row((start, end, at), |row| row.get(0))?;
        if at < self.state.revision {
            count += self.count_changed_since(range, at)?;
        }
        Ok(count)
    }

    /// Counts the keys that existed at a revision, among those that have changed since.
    fn count_changed_since(&self, range: &KeyRange, at: Revision) -> Result<u64> {
        let sql = format!("SELECT c.key, c.revision FROM current c WHERE {} AND c.revision > ?3", bounds(range));
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (start, end) = keys(range);
        let mut rows = statement.query((start, end, at))?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let key = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            count += u64::from(self.last_write(key, row.get(1)?, at)?.is_some_and(|write| write.live));
        }
        Ok(count)
    }

    /// Visits every existing key in order, with its expiry.
    pub(super) fn visit_live(&self, mut visit: impl FnMut(HistoryRow, Option<u64>) -> Result<()>) -> Result<()> {
        let mut statement = self.connection.prepare_cached(LIVE)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(read_newest(row)?, row.get("expires_at")?)?;
        }
        Ok(())
    }

    /// Visits the newest rows of a range in key order until the visitor returns `false`.
    fn scan(&self, range: &KeyRange, mut visit: impl FnMut(HistoryRow) -> Result<bool>) -> Result<()> {
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

const NEWEST: &str =
    concat!("SELECT c.key, c.revision, ", columns!(), " FROM current c LEFT JOIN history h ON h.revision = c.revision");
const LIVE: &str = concat!(
    "SELECT c.key, c.revision, ",
    columns!(),
    ", c.expires_at FROM current c LEFT JOIN history h ON h.revision = c.revision WHERE c.live = 1 ORDER BY c.key"
);
const NEWEST_OF_KEY: &str = concat!(
    "SELECT c.key, c.revision, ",
    columns!(),
    " FROM current c LEFT JOIN history h ON h.revision = c.revision WHERE c.key = ?1"
);

/// Returns the newest row of a key: its last put, or its delete while that is kept.
pub(super) fn newest(connection: &Connection, key: &[u8]) -> Result<Option<HistoryRow>> {
    let mut statement = connection.prepare_cached(NEWEST_OF_KEY)?;
    statement.query_row([key], |row| Ok(read_newest(row))).optional()?.transpose()
}

fn read_newest(row: &Row<'_>) -> Result<HistoryRow> {
    let key = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
    let revision: Revision = row.get(1)?;
    if row.get::<_, Option<Revision>>(2)?.is_none() {
        return Err(missing(key, revision));
    }
    let found = HistoryRow::read(row, 2)?;
    if found.kv.key != key {
        return Err(Error::corrupt(key, format!("revision {revision} belongs to another key")));
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
