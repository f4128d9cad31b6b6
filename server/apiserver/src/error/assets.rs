//! Errors of `kube-apiserver assets`.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::assets_command::USAGE;

/// The reason why a folder of assets is not made.
#[derive(Debug, thiserror::Error)]
pub enum AssetsError {
    #[error("DIR is missing\n{USAGE}")]
    NoFolder,
    #[error("unexpected argument {argument:?}\n{USAGE}")]
    UnexpectedArgument { argument: OsString },
    /// The folder has programs, perhaps upstream's.
    #[error("{} was not made by this command, and is kept; name another folder, or remove it", path.display())]
    Foreign { path: PathBuf },
    #[error("cannot find the file of this program: {0}")]
    Program(#[source] io::Error),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}
