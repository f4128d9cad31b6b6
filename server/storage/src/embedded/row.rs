//! A row of the history, with a checksum that detects damage.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row};

use super::write_id::WriteId;
use crate::{Error, Event, EventKind, KeyValue, LeaseId, Result};

/// The columns that [`HistoryRow::read`] expects, of a table with alias `h`.
macro_rules! columns {
    () => {
        "h.id, h.prev_id, h.create_revision, h.version, h.checksum, h.lease, h.key, h.value"
    };
}
pub(super) use columns;

const BY_ID: &str = concat!("SELECT ", columns!(), " FROM history h WHERE h.id = ?1");

/// A write of one key.
#[derive(Clone, Debug)]
pub(super) struct HistoryRow {
    pub(super) id: WriteId,
    /// The write before of the same key.
    pub(super) prev: WriteId,
    /// The key after the write; `version` 0 marks a delete. The modification revision is that of `id`.
    pub(super) kv: KeyValue,
}

impl HistoryRow {
    pub(super) fn put(id: WriteId, key: Bytes, value: Bytes, lease: LeaseId, replaced: Option<&Self>) -> Self {
        let mod_revision = id.revision();
        let (create_revision, version) = match replaced {
            Some(row) if row.is_live() => (row.kv.create_revision, row.kv.version + 1),
            _ => (mod_revision, 1),
        };
        let prev = replaced.map_or(WriteId::NONE, |row| row.id);
        let kv = KeyValue { key, value, create_revision, mod_revision, version, lease, ..KeyValue::default() };
        Self { id, prev, kv }
    }

    pub(super) fn delete(id: WriteId, replaced: &Self) -> Self {
        let kv = KeyValue { key: replaced.kv.key.clone(), mod_revision: id.revision(), ..KeyValue::default() };
        Self { id, prev: replaced.id, kv }
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
        let id: WriteId = row.get(first)?;
        let found = Self {
            id,
            prev: row.get(first + 1)?,
            kv: KeyValue {
                mod_revision: id.revision(),
                create_revision: row.get(first + 2)?,
                version: row.get(first + 3)?,
                lease: row.get(first + 5)?,
                key: Bytes::copy_from_slice(blob(first + 6)?),
                value: Bytes::copy_from_slice(blob(first + 7)?),
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

    pub(super) fn load(connection: &Connection, id: WriteId) -> Result<Option<Self>> {
        let mut statement = connection.prepare_cached(BY_ID)?;
        let row = statement.query_row([id], |row| Ok(Self::read(row, 0))).optional()?;
        row.transpose()
    }

    pub(super) fn insert(&self, connection: &Connection) -> Result<()> {
        let kv = &self.kv;
        connection
            .prepare_cached(
                "INSERT INTO history (id, prev_id, create_revision, version, checksum, lease, key, value)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute((
                self.id,
                self.prev,
                kv.create_revision,
                kv.version,
                self.checksum(),
                kv.lease,
                &kv.key[..],
                &kv.value[..],
            ))?;
        Ok(())
    }

    /// Makes this row the current state of its key.
    pub(super) fn make_current(&self, connection: &Connection, expires_at: Option<u64>) -> Result<()> {
        let lease = Some(self.kv.lease).filter(|&lease| lease != 0);
        connection
            .prepare_cached(
                "INSERT INTO current (key, id, live, expires_at, lease) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (key) DO UPDATE
                 SET id = excluded.id, live = excluded.live, expires_at = excluded.expires_at, lease = excluded.lease",
            )?
            .execute((&self.kv.key[..], self.id, self.is_live(), expires_at, lease))?;
        Ok(())
    }

    fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for number in [self.kv.mod_revision, self.prev.revision(), self.kv.create_revision, self.kv.version] {
            hasher.update(&number.to_be_bytes());
        }
        hasher.update(&(self.kv.key.len() as u64).to_be_bytes());
        hasher.update(&self.kv.key);
        hasher.update(&self.kv.value);
        // Rows of format 1 have none of these; their checksums stay valid.
        let added = [self.id.position(), self.prev.position(), self.kv.lease.cast_unsigned()];
        if added != [0; 3] {
            added.iter().for_each(|number| hasher.update(&number.to_be_bytes()));
        }
        hasher.finalize()
    }
}
