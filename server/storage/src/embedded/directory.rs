//! The directory of an embedded store: whose it is, and the lock that admits one writer.

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
/// The bits of a mode that count for other users and groups.
const FOR_OTHERS: u32 = 0o077;
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

    /// Locks a directory that holds no store, creating it if need be, to build one there.
    pub(super) fn lock_empty(path: &Path) -> Result<Self> {
        if path.join(DATABASE).exists() {
            return Err(Error::Occupied { place: path.display().to_string() });
        }
        remove_unfinished(path).map_err(Error::backend)?;
        Self::lock(path)
    }

    /// Creates the file of a database for its owner alone, unless it exists. SQLite gives its log the same mode.
    pub(super) fn create_private(file: &Path) -> Result<()> {
        let created = OpenOptions::new().create(true).truncate(false).append(true).mode(PRIVATE_FILE).open(file);
        created.map(drop).map_err(Error::backend)
    }

    /// Where a store is built before it gets its name. A directory that has no more than this is refused.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.path.join(UNFINISHED)
    }

    /// Makes what was built durable and gives it its name.
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

/// The database of the store in a directory.
pub(super) fn database(path: &Path) -> PathBuf {
    path.join(DATABASE)
}

/// Removes what an interrupted restore left.
fn remove_unfinished(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path.join(UNFINISHED)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Takes the permissions of others away from the directory and its files, which earlier versions left to the umask. One
/// that belongs to another user stays as it is.
fn make_private(path: &Path) {
    tighten(path, PRIVATE_DIRECTORY);
    let entries = path.read_dir().into_iter().flatten().flatten();
    // A directory is not ours: `mkfs` leaves one in a fresh volume.
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.for_each(|file| tighten(&file.path(), PRIVATE_FILE));
}

fn tighten(path: &Path, mode: u32) {
    let tighten = || match std::fs::metadata(path)?.permissions().mode() & FOR_OTHERS {
        0 => Ok(()),
        _ => std::fs::set_permissions(path, Permissions::from_mode(mode)),
    };
    match tighten() {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), %error, "cannot take the permissions of other users away");
        }
        _ => {}
    }
}

/// Creates the directory for its owner alone (it holds secrets), and makes its name durable.
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
