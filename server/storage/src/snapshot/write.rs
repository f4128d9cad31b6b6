//! Writes a snapshot file. The file gets its name when it is complete and durable.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::{END, ENTRY, FORMAT, MAGIC, SnapshotEntry, Summary, refused};
use crate::{Result, Revision, clock::unix_millis};

/// Writes a snapshot.
pub(crate) struct SnapshotWriter {
    path: PathBuf,
    unfinished: PathBuf,
    file: BufWriter<File>,
    hasher: Sha256,
    summary: Summary,
}

impl SnapshotWriter {
    /// Starts a snapshot of a revision. The file has mode 0600, because it contains secrets.
    pub(crate) fn create(path: &Path, revision: Revision) -> Result<Self> {
        let mut unfinished = OsString::from(path);
        unfinished.push(".unfinished");
        let unfinished = PathBuf::from(unfinished);
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished);
        let file = file.map_err(|error| refused(path, format!("it cannot be written: {error}")))?;
        let summary = Summary { revision, created_at: unix_millis(), keys: 0, bytes: 0, checksum: [0; 32] };
        let mut writer = Self {
            path: path.to_owned(),
            unfinished,
            file: BufWriter::with_capacity(1 << 20, file),
            hasher: Sha256::new(),
            summary,
        };
        writer.write(MAGIC)?;
        writer.write(&FORMAT.to_le_bytes())?;
        writer.write(&revision.to_le_bytes())?;
        writer.write(&writer.summary.created_at.to_le_bytes())?;
        Ok(writer)
    }

    pub(crate) fn push(&mut self, entry: &SnapshotEntry) -> Result<()> {
        let SnapshotEntry { kv, expires_at } = entry;
        self.write(&[ENTRY])?;
        self.write(&self.length(&kv.key)?.to_le_bytes())?;
        self.write(&self.length(&kv.value)?.to_le_bytes())?;
        for number in [kv.create_revision, kv.mod_revision, kv.version, expires_at.unwrap_or(0)] {
            self.write(&number.to_le_bytes())?;
        }
        self.write(&kv.key)?;
        self.write(&kv.value)?;
        self.summary.keys += 1;
        self.summary.bytes += (kv.key.len() + kv.value.len()) as u64;
        Ok(())
    }

    /// Syncs the file and renames it to its final name.
    pub(crate) fn finish(mut self) -> Result<Summary> {
        self.write(&[END])?;
        self.write(&self.summary.keys.to_le_bytes())?;
        self.summary.checksum = self.hasher.finalize_reset().into();
        self.file.write_all(&self.summary.checksum).map_err(|error| self.failed(&error))?;
        self.place().map_err(|error| self.failed(&error))?;
        Ok(self.summary)
    }

    fn place(&mut self) -> std::io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        std::fs::rename(&self.unfinished, &self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
        self.file.write_all(bytes).map_err(|error| self.failed(&error))
    }

    fn length(&self, bytes: &[u8]) -> Result<u32> {
        u32::try_from(bytes.len()).map_err(|_| refused(&self.path, "a key or value has more than 4 GiB"))
    }

    fn failed(&self, error: &std::io::Error) -> crate::Error {
        refused(&self.path, format!("it cannot be written: {error}"))
    }
}
