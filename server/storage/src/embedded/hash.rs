//! The checksum of the history, as etcd computes it (`HashKV`), so that members of different kinds can
//! be compared.

use std::collections::HashSet;

use rusqlite::Connection;

use super::{
    read::ReadTransaction,
    row::{HistoryRow, columns},
    write_id::WriteId,
};
use crate::{Error, KeyRange, KeyValue, Result, Revision, model::KvHash};

/// The name of etcd's table of keys.
const TABLE: &[u8] = b"key";
/// CRC-32C, reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

const ROWS: &str = concat!("SELECT ", columns!(), " FROM history h WHERE h.id <= ?1 ORDER BY h.id");

impl ReadTransaction<'_> {
    /// Computes the checksum up to a revision; `None` is the current one.
    pub(super) fn hash(&self, revision: Option<Revision>) -> Result<KvHash> {
        let compacted = self.state().compacted;
        let hash_revision = self.state().at(revision)?;
        let upto = WriteId::last(hash_revision);
        let invisible = self.invisible(compacted, hash_revision)?;
        let mut sum = Crc32c::new();
        sum.update(TABLE);
        let mut statement = self.connection().prepare_cached(ROWS)?;
        let mut rows = statement.query([upto])?;
        while let Some(row) = rows.next()? {
            let row = HistoryRow::read(row, 0)?;
            // Rows that the compaction made invisible may not have been removed yet.
            if row.id.revision() <= compacted && (invisible.contains(&row.id) || !row.is_live()) {
                continue;
            }
            sum.update(&key(row.id, row.is_live()));
            sum.update(&value(&row.kv));
        }
        Ok(KvHash { hash: sum.finish(), hash_revision, compacted, revision: self.revision() })
    }

    /// Returns the writes that etcd leaves out when they are compacted: those that are not the newest of
    /// their keys at the revision of the checksum. When no key exists at that revision, etcd takes what
    /// the compaction kept.
    fn invisible(&self, compacted: Revision, revision: Revision) -> Result<HashSet<WriteId>> {
        let is_empty = self.count_at(&KeyRange::prefix(""), revision)? == 0;
        superseded(self.connection(), WriteId::last(if is_empty { compacted } else { revision }))
    }

    /// Computes a checksum of all rows, for comparison with an earlier one of the same store.
    pub(super) fn hash_all(&self) -> Result<(u32, Revision)> {
        let mut sum = Crc32c::new();
        let mut statement = self.connection().prepare_cached(ROWS)?;
        let mut rows = statement.query([WriteId::last(self.revision())])?;
        while let Some(row) = rows.next()? {
            let row = HistoryRow::read(row, 0)?;
            sum.update(&key(row.id, row.is_live()));
            sum.update(&value(&row.kv));
        }
        Ok((sum.finish(), self.revision()))
    }
}

/// The writes that another write of the same key follows, up to a write.
fn superseded(connection: &Connection, upto: WriteId) -> Result<HashSet<WriteId>> {
    let mut statement = connection.prepare_cached("SELECT prev_id FROM history WHERE id <= ?1 AND prev_id != 0")?;
    let ids = statement.query_map([upto], |row| row.get(0))?;
    ids.collect::<Result<_, rusqlite::Error>>().map_err(Error::from)
}

/// The key of a write in etcd's table: `revision_position`, with a `t` for a delete.
fn key(id: WriteId, is_live: bool) -> Vec<u8> {
    let mut key = Vec::with_capacity(18);
    key.extend(id.revision().to_be_bytes());
    key.push(b'_');
    key.extend(id.position().to_be_bytes());
    if !is_live {
        key.push(b't');
    }
    key
}

/// The value of a write in etcd's table: a protobuf message `KeyValue`, of a delete only the key.
fn value(kv: &KeyValue) -> Vec<u8> {
    let mut message = Vec::with_capacity(kv.key.len() + kv.value.len() + 32);
    bytes(&mut message, 1, &kv.key);
    if kv.version > 0 {
        number(&mut message, 2, kv.create_revision);
        number(&mut message, 3, kv.mod_revision);
        number(&mut message, 4, kv.version);
        bytes(&mut message, 5, &kv.value);
        number(&mut message, 6, kv.lease.cast_unsigned());
    }
    message
}

fn bytes(message: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    if !bytes.is_empty() {
        message.push(field << 3 | 2);
        varint(message, bytes.len() as u64);
        message.extend(bytes);
    }
}

fn number(message: &mut Vec<u8>, field: u8, number: u64) {
    if number != 0 {
        message.push(field << 3);
        varint(message, number);
    }
}

fn varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

/// CRC-32 with Castagnoli's polynomial, which `crc32fast` does not have.
struct Crc32c(u32);

impl Crc32c {
    fn new() -> Self {
        Self(!0)
    }

    fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = CRC_TABLE[usize::from(self.0 as u8 ^ byte)] ^ (self.0 >> 8);
        }
    }

    fn finish(&self) -> u32 {
        !self.0
    }
}

const CRC_TABLE: [u32; 256] = crc_table();

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_the_castagnoli_checksum() {
        let mut sum = Crc32c::new();
        sum.update(b"1234");
        sum.update(b"56789");
        assert_eq!(sum.finish(), 0xe306_9283);
    }

    #[test]
    fn encodes_keys_and_values_as_etcd_does() {
        assert_eq!(key(WriteId::first(2).at(1), false), b"\0\0\0\0\0\0\0\x02_\0\0\0\0\0\0\0\x01t");
        let kv = KeyValue { key: "a".into(), value: "b".into(), version: 1, lease: 300, ..KeyValue::default() };
        assert_eq!(value(&kv), b"\x0a\x01a\x20\x01\x2a\x01b\x30\xac\x02");
        assert_eq!(value(&KeyValue { version: 0, ..kv }), b"\x0a\x01a");
    }
}
