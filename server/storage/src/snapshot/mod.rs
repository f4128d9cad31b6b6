//! Snapshot files: the keys of a store at one revision, in a form that every store can be restored from.
//!
//! A file has no history: a restored store begins at the revision of the snapshot, with everything below it compacted.
//! Values are as they are stored, so encrypted ones stay encrypted. Numbers are little-endian:
//!
//! | part | content |
//! |---|---|
//! | head | `kube-apiserver snapshot\n`, format (u32), revision (u64), Unix milliseconds of its making (u64) |
//! | entry | `1`, lengths of key and value (u32 each), create revision, mod revision, version, Unix milliseconds of expiry or 0 (u64 each), key, value |
//! | end | `0`, number of entries (u64), SHA-256 of everything before it |

mod read;
mod write;

use std::path::Path;

pub(crate) use read::Reader;
pub use read::status;
pub(crate) use write::Writer;

use crate::{Error, KeyValue, Revision};

const MAGIC: &[u8; 24] = b"kube-apiserver snapshot\n";
/// The layout of the file; a change that an older program cannot read takes the next number.
const FORMAT: u32 = 1;
const ENTRY: u8 = 1;
const END: u8 = 0;

/// What a snapshot is, besides its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The revision of the store that it shows.
    pub revision: Revision,
    /// When it was made, in milliseconds since 1970.
    pub created_at: u64,
    /// How many keys it holds.
    pub keys: u64,
    /// How many bytes keys and values have.
    pub bytes: u64,
    /// SHA-256 of the file up to this checksum.
    pub checksum: [u8; 32],
}

/// A key of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kv: KeyValue,
    /// When its lease runs out, in milliseconds since 1970.
    pub(crate) expires_at: Option<u64>,
}

fn refused(file: &Path, reason: impl Into<String>) -> Error {
    Error::Snapshot { file: file.to_owned(), reason: reason.into() }
}

#[cfg(test)]
mod tests;
