//! The directory of an embedded store: its ownership, its permissions, and the lock that admits one writer.

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io::ErrorKind,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::{Error, Result};

const LOCK: &str = "lock";
const DATABASE: &str = "store.db";
const UNFINISHED: &str = "store.db.restoring";
const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;
/// The permission bits of group and others.
const GROUP_AND_OTHERS: u32 = 0o077;
/// Entries that a directory without a database may have. A process that ended right after taking the
/// lock leaves the lock file; `mkfs` creates a directory in a new volume.
const IGNORED: [&str; 2] = [LOCK, "lost+found"];

/// A directory that is locked by this store until this value is dropped.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    _lock: File,
}

impl Directory {
    /// Creates the directory if it does not exist, checks that it is empty or has a store, and locks it.
    pub(super) fn lock(path: &Path) -> Result<Self> {
        create(path).map_err(|error| foreign(path, format!("it cannot be created: {error}")))?;
        refuse_foreign(path)?;
        make_private(path);
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(PRIVATE_FILE)
            .open(path.join(LOCK))
            .map_err(|error| foreign(path, format!("its lock cannot be opened: {error}")))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { dir: path.to_owned() }),
            Err(TryLockError::Error(error)) => Err(Error::backend(error)),
        }
    }

    /// Locks a directory without a store, to restore one there. Creates the directory if it does not exist.
    pub(super) fn lock_empty(path: &Path) -> Result<Self> {
        if path.join(DATABASE).exists() {
            return Err(Error::Occupied { place: path.display().to_string() });
        }
        remove_unfinished(path).map_err(Error::backend)?;
        Self::lock(path)
    }

    /// Creates the file of a database with mode 0600, unless it exists. SQLite gives its log the same mode.
    pub(super) fn create_private(file: &Path) -> Result<()> {
        let created = OpenOptions::new().create(true).truncate(false).append(true).mode(PRIVATE_FILE).open(file);
        created.map(drop).map_err(Error::backend)
    }

    /// Returns the path where a store is built before it is renamed. A directory with only this file is
    /// refused.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.path.join(UNFINISHED)
    }

    /// Syncs the restored database and renames it to its final name.
    pub(super) fn place_unfinished(&self) -> Result<()> {
        let place = || {
            File::open(self.unfinished())?.sync_all()?;
            std::fs::rename(self.unfinished(), self.database())?;
            File::open(&self.path)?.sync_all()
        };
        place().map_err(Error::backend)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn database(&self) -> PathBuf {
        database(&self.path)
    }
}

/// Returns the path of the database of the store in a directory.
pub(super) fn database(path: &Path) -> PathBuf {
    path.join(DATABASE)
}

/// Removes the file of an interrupted restore.
fn remove_unfinished(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path.join(UNFINISHED)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the permissions of group and others from the directory and its files, which earlier versions
/// left to the umask. Logs a warning for a file of another user, which stays unchanged.
fn make_private(path: &Path) {
    tighten(path, PRIVATE_DIRECTORY);
    let entries = path.read_dir().into_iter().flatten().flatten();
    // A subdirectory is not part of the store: `mkfs` creates one in a new volume.
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.for_each(|file| tighten(&file.path(), PRIVATE_FILE));
}

fn tighten(path: &Path, mode: u32) {
    let tighten = || match std::fs::metadata(path)?.permissions().mode() & GROUP_AND_OTHERS {
        0 => Ok(()),
        _ => std::fs::set_permissions(path, Permissions::from_mode(mode)),
    };
    match tighten() {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), %error, "cannot remove the permissions of other users");
        }
        _ => {}
    }
}

/// Creates the directory with mode 0700, because it holds secrets, and syncs its parent.
fn create(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(path)?;
    match path.parent() {
        Some(parent) if parent != Path::new("") => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

fn refuse_foreign(path: &Path) -> Result<()> {
    let entries = path.read_dir().map_err(|error| foreign(path, format!("it cannot be read: {error}")))?;
    let mut unexpected = None;
    for entry in entries {
        let name = entry.map_err(Error::backend)?.file_name();
        if name == DATABASE {
            return Ok(());
        }
        if !IGNORED.iter().any(|ignored| name == *ignored) {
            unexpected = Some(name);
        }
    }
    match unexpected {
        Some(name) => Err(foreign(path, format!("it is not empty ({}) and has no {DATABASE}", name.to_string_lossy()))),
        None => Ok(()),
    }
}

pub(super) fn foreign(path: &Path, reason: impl Into<String>) -> Error {
    Error::Foreign { dir: path.to_owned(), reason: reason.into() }
}
