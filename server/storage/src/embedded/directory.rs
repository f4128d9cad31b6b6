//! The directory of an embedded store: whose it is, and the lock that admits one writer.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use crate::{Error, Result};

const LOCK: &str = "lock";
const DATABASE: &str = "store.db";
/// What a directory without a database may hold: our lock, if we were stopped right after taking it, and what `mkfs`
/// leaves in a fresh volume.
const HARMLESS: [&str; 2] = [LOCK, "lost+found"];

/// A directory that this store, and no other, has open until this is dropped.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    _lock: File,
}

impl Directory {
    /// Creates the directory if need be, checks that it is empty or ours, and locks it.
    pub(super) fn lock(path: &Path) -> Result<Self> {
        create(path).map_err(|error| foreign(path, format!("it cannot be created: {error}")))?;
        refuse_foreign(path)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK))
            .map_err(|error| foreign(path, format!("its lock cannot be opened: {error}")))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { dir: path.to_owned() }),
            Err(TryLockError::Error(error)) => Err(Error::backend(error)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }
}

/// Creates the directory for its owner alone (it holds secrets), and makes its name durable.
fn create(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    match path.parent() {
        Some(parent) if parent != Path::new("") => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

fn refuse_foreign(path: &Path) -> Result<()> {
    let entries = path.read_dir().map_err(|error| foreign(path, format!("it cannot be read: {error}")))?;
    let mut stranger = None;
    for entry in entries {
        let name = entry.map_err(Error::backend)?.file_name();
        if name == DATABASE {
            return Ok(());
        }
        if !HARMLESS.iter().any(|harmless| name == *harmless) {
            stranger = Some(name);
        }
    }
    match stranger {
        Some(name) => Err(foreign(path, format!("it is not empty ({}) and has no {DATABASE}", name.to_string_lossy()))),
        None => Ok(()),
    }
}

pub(super) fn foreign(path: &Path, reason: impl Into<String>) -> Error {
    Error::Foreign { dir: path.to_owned(), reason: reason.into() }
}
