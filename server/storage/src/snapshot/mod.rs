//! Snapshot files: the keys of a store at one revision. Any store can be restored from one.
//!
//! A file has no history. A restored store begins at the revision of the snapshot and counts everything
//! below as compacted. Values are in stored form, so encrypted ones stay encrypted. Numbers are
//! little-endian:
//!
//! | part | content |
//! |---|---|
//! | head | `kube-apiserver snapshot\n`, format (u32), revision (u64), Unix milliseconds of creation (u64) |
//! | entry | `1`, lengths of key and value (u32 each), the numbers below (u64 each), key, value |
//! | numbers | create revision, mod revision, version, Unix milliseconds of expiry or 0 |
//! | end | `0`, number of entries (u64), SHA-256 of everything before it |

mod read;
mod write;

use std::path::Path;

pub(crate) use read::SnapshotReader;
pub use read::status;
pub(crate) use write::SnapshotWriter;

use crate::{Error, KeyValue, Revision};

const MAGIC: &[u8; 24] = b"kube-apiserver snapshot\n";
/// The version of the file layout. A change that older programs cannot read increments it.
const FORMAT: u32 = 1;
const ENTRY: u8 = 1;
const END: u8 = 0;

/// A snapshot's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The revision of the store.
    pub revision: Revision,
    /// Creation time, in milliseconds since 1970.
    pub created_at: u64,
    /// Number of keys.
    pub keys: u64,
    /// Total size of keys and values in bytes.
    pub bytes: u64,
    /// SHA-256 of the file up to this checksum.
    pub checksum: [u8; 32],
}

/// A key of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotEntry {
    pub(crate) kv: KeyValue,
    /// When its lease expires, in milliseconds since 1970.
    pub(crate) expires_at: Option<u64>,
}

fn refused(file: &Path, reason: impl Into<String>) -> Error {
    Error::Snapshot { file: file.to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests;
