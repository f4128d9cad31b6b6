//! Reading and atomic writing of files with restricted permissions.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::Error;

const NO_DIRECTORY: &str = "not a directory; --data-dir and --cert-dir name those of the server";

/// The mode of private keys.
pub(super) const SECRET: u32 = 0o600;
/// The mode of certificates.
pub(super) const PUBLIC: u32 = 0o644;

/// Creates a directory with mode 0700.
pub(super) fn make_directory(path: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => Error::content(path, NO_DIRECTORY),
        _ => Error::file(path)(why),
    })
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(Error::file(path))
}

/// Writes a file atomically: after a crash, it has either the old or the new content.
pub(super) fn write(path: &Path, content: &[u8], mode: u32) -> Result<(), Error> {
    let temporary = path.with_extension("tmp");
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&temporary)?;
        // The mode of `OpenOptions` applies only to a new file.
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(Error::file(path))
}
