//! Reads a snapshot file. The file is read twice: first to verify it, then for its entries. So nothing
//! is restored from a damaged file.

use std::{
    fs::File,
    io::{BufReader, ErrorKind, Read},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{END, ENTRY, FORMAT, MAGIC, SnapshotEntry, Summary, refused};
use crate::{KeyValue, Result};

/// The sizes in bytes of what etcd's API appends to a snapshot.
const SECTOR: usize = 512;
const SHA256: usize = 32;

/// Verifies a snapshot file and returns its metadata.
///
/// # Errors
/// [`Error::Snapshot`](crate::Error::Snapshot) when the file is not a snapshot, or is damaged.
pub fn status(file: &Path) -> Result<Summary> {
    let mut reader = SnapshotReader::begin(file)?;
    while reader.next()?.is_some() {}
    Ok(reader.summary)
}

/// Iterates over the entries of a snapshot.
pub(crate) struct SnapshotReader {
    path: PathBuf,
    file: BufReader<File>,
    hasher: Sha256,
    /// Complete after the last entry has been read.
    summary: Summary,
}

impl SnapshotReader {
    /// Verifies a snapshot, then opens it.
    pub(crate) fn open(file: &Path) -> Result<(Self, Summary)> {
        let summary = status(file)?;
        Ok((Self::begin(file)?, summary))
    }

    fn begin(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| refused(path, format!("it cannot be opened: {error}")))?;
        let summary = Summary { revision: 0, created_at: 0, keys: 0, bytes: 0, checksum: [0; 32] };
        let file = BufReader::with_capacity(1 << 20, file);
        let mut reader = Self { path: path.to_owned(), file, hasher: Sha256::new(), summary };
        match reader.array::<{ MAGIC.len() }>() {
            Ok(magic) if magic == *MAGIC => {}
            _ => return Err(refused(path, "it is not a snapshot of this program")),
        }
        let format = u32::from_le_bytes(reader.array()?);
        if format != FORMAT {
            return Err(refused(path, format!("it has snapshot format {format}; this program reads format {FORMAT}")));
        }
        reader.summary.revision = reader.number()?;
        reader.summary.created_at = reader.number()?;
        Ok(reader)
    }

    /// Returns the next entry. After the last one, verifies the checksum and returns `None`.
    pub(crate) fn next(&mut self) -> Result<Option<SnapshotEntry>> {
        match self.array()? {
            [ENTRY] => self.entry().map(Some),
            [END] => self.end().map(|()| None),
            _ => Err(self.damaged("an entry does not begin where it should")),
        }
    }

    fn entry(&mut self) -> Result<SnapshotEntry> {
        let (key_length, value_length) = (u32::from_le_bytes(self.array()?), u32::from_le_bytes(self.array()?));
        let (create_revision, mod_revision, version) = (self.number()?, self.number()?, self.number()?);
        let expires_at = Some(self.number()?).filter(|&at| at != 0);
        let (key, value) = (self.bytes(key_length)?, self.bytes(value_length)?);
        self.summary.keys += 1;
        self.summary.bytes += u64::from(key_length) + u64::from(value_length);
        if mod_revision == 0 || mod_revision > self.summary.revision {
            return Err(self.damaged("a key was changed after the snapshot"));
        }
        Ok(SnapshotEntry {
            kv: KeyValue { key, value, create_revision, mod_revision, version, ..KeyValue::default() },
            expires_at,
        })
    }

    fn end(&mut self) -> Result<()> {
        let keys = self.number()?;
        let computed: [u8; 32] = self.hasher.finalize_reset().into();
        self.summary.checksum = self.array()?;
        if keys != self.summary.keys || computed != self.summary.checksum {
            return Err(self.damaged("its checksum does not match"));
        }
        match self.is_complete() {
            true => Ok(()),
            false => Err(self.damaged("something follows its end")),
        }
    }

    /// Whether nothing follows the end, or what etcd's API appends: zeros up to a sector, and a SHA-256.
    fn is_complete(&mut self) -> bool {
        let mut rest = Vec::new();
        let most = (SECTOR + SHA256) as u64 + 1;
        if (&mut self.file).take(most).read_to_end(&mut rest).is_err() {
            return false;
        }
        let Ok(length) = self.file.get_ref().metadata().map(|metadata| metadata.len()) else { return false };
        let is_appended = rest.len() >= SHA256
            && rest.len() < SECTOR + SHA256
            && length % SECTOR as u64 == SHA256 as u64
            && rest[..rest.len() - SHA256].iter().all(|&byte| byte == 0);
        rest.is_empty() || is_appended
    }

    fn number(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let outcome = self.file.read_exact(&mut bytes);
        outcome.map_err(|error| self.failed(&error))?;
        self.hasher.update(bytes);
        Ok(bytes)
    }

    /// Reads `length` bytes. Does not allocate them in advance, because the length may be damaged.
    fn bytes(&mut self, length: u32) -> Result<Bytes> {
        let mut bytes = Vec::new();
        let outcome = (&mut self.file).take(length.into()).read_to_end(&mut bytes);
        outcome.map_err(|error| self.failed(&error))?;
        if bytes.len() != length as usize {
            return Err(self.damaged("it is cut short"));
        }
        self.hasher.update(&bytes);
        Ok(bytes.into())
    }

    fn failed(&self, error: &std::io::Error) -> crate::Error {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.damaged("it is cut short"),
            _ => refused(&self.path, format!("it cannot be read: {error}")),
        }
    }

    fn damaged(&self, what: &str) -> crate::Error {
        refused(&self.path, format!("it is damaged: {what}"))
    }
}
