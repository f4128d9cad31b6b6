//! A row of the history, with a checksum that detects damage.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{Error, Event, EventKind, KeyValue, Result, Revision};

/// The columns that [`HistoryRow::read`] expects, of a table with alias `h`.
macro_rules! columns {
    () => {
        "h.revision, h.prev_revision, h.create_revision, h.version, h.checksum, h.key, h.value"
    };
}
pub(super) use columns;

const BY_REVISION: &str = concat!("SELECT ", columns!(), " FROM history h WHERE h.revision = ?1");

/// One revision: a write of one key.
#[derive(Clone, Debug)]
pub(super) struct HistoryRow {
    pub(super) prev_revision: Revision,
    /// The key after the write; `version` 0 marks a delete.
    pub(super) kv: KeyValue,
}

impl HistoryRow {
    pub(super) fn put(key: Bytes, value: Bytes, revision: Revision, replaced: Option<&Self>) -> Self {
        let (create_revision, version) = match replaced {
            Some(row) if row.is_live() => (row.kv.create_revision, row.kv.version + 1),
            _ => (revision, 1),
        };
        let prev_revision = replaced.map_or(0, |row| row.kv.mod_revision);
        let kv = KeyValue { key, value, create_revision, mod_revision: revision, version, ..KeyValue::default() };
        Self { prev_revision, kv }
    }

    pub(super) fn delete(revision: Revision, replaced: &Self) -> Self {
        let kv = KeyValue { key: replaced.kv.key.clone(), mod_revision: revision, ..KeyValue::default() };
        Self { prev_revision: replaced.kv.mod_revision, kv }
    }

    pub(super) fn is_live(&self) -> bool {
        self.kv.version > 0
    }

    pub(super) fn into_live(self) -> Option<KeyValue> {
        self.is_live().then_some(self.kv)
    }

    pub(super) fn into_event(self, prev: Option<Self>) -> Event {
        let kind = if self.is_live() { EventKind::Put } else { EventKind::Delete };
        Event { kind, kv: self.kv, prev: prev.and_then(Self::into_live) }
    }

    /// Reads the columns of a row from column `first` on and verifies the checksum.
    pub(super) fn read(row: &Row<'_>, first: usize) -> Result<Self> {
        let blob = |column| row.get_ref(column).and_then(|value| Ok(value.as_blob()?));
        let found = Self {
            prev_revision: row.get(first + 1)?,
            kv: KeyValue {
                mod_revision: row.get(first)?,
                create_revision: row.get(first + 2)?,
                version: row.get(first + 3)?,
                key: Bytes::copy_from_slice(blob(first + 5)?),
                value: Bytes::copy_from_slice(blob(first + 6)?),
                ..KeyValue::default()
            },
        };
        let checksum: u32 = row.get(first + 4)?;
        if checksum != found.checksum() {
            let reason = format!("the checksum of revision {} does not match", found.kv.mod_revision);
            return Err(Error::corrupt(&found.kv.key, reason));
        }
        Ok(found)
    }

    pub(super) fn load(connection: &Connection, revision: Revision) -> Result<Option<Self>> {
        let mut statement = connection.prepare_cached(BY_REVISION)?;
        let row = statement.query_row([revision], |row| Ok(Self::read(row, 0))).optional()?;
        row.transpose()
    }

    pub(super) fn insert(&self, connection: &Connection) -> Result<()> {
        let kv = &self.kv;
        connection
            .prepare_cached(
                "INSERT INTO history (revision, prev_revision, create_revision, version, checksum, key, value)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute((
                kv.mod_revision,
                self.prev_revision,
                kv.create_revision,
                kv.version,
                self.checksum(),
                &kv.key[..],
                &kv.value[..],
            ))?;
        Ok(())
    }

    /// Makes this row the current state of its key.
    pub(super) fn make_current(&self, connection: &Connection, expires_at: Option<u64>) -> Result<()> {
        connection
            .prepare_cached(
                "INSERT INTO current (key, revision, live, expires_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (key) DO UPDATE
                 SET revision = excluded.revision, live = excluded.live, expires_at = excluded.expires_at",
            )?
            .execute((&self.kv.key[..], self.kv.mod_revision, self.is_live(), expires_at))?;
        Ok(())
    }

    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for number in [self.kv.mod_revision, self.prev_revision, self.kv.create_revision, self.kv.version] {
            hasher.update(&number.to_be_bytes());
        }
        hasher.update(&(self.kv.key.len() as u64).to_be_bytes());
        hasher.update(&self.kv.key);
        hasher.update(&self.kv.value);
        hasher.finalize()
    }
}
