//! Errors of the program: of its commands, and of the server.

mod assets;
mod box_error;
mod command;
mod new;
mod run;

use std::io;

pub use assets::AssetsError;
pub(crate) use assets::USAGE as ASSETS_USAGE;
use box_error::BoxError;
pub use command::CommandError;
pub use new::{GroupError, KindError, NameError, NewError};
pub(crate) use new::{MAX_LENGTH, USAGE};
pub(crate) use run::ProbeError;
pub use run::RunError;

/// A failure of the program, or of a server in the current process. The text is for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A command fails, or the command line is invalid.
    #[error("error: {0}")]
    Command(#[from] CommandError),
    /// The arguments of a command are not those of its usage, which is the text.
    #[error("{0}")]
    Usage(&'static str),
    /// Two groups declare a feature gate differently.
    #[error("error: {0}")]
    Gates(#[source] BoxError),
    /// The server cannot start, or stops because of a failure.
    #[error("error: {0}")]
    Run(#[from] RunError),
    /// The flags of a server in the current process are invalid.
    #[error(transparent)]
    Options(#[from] options::Error),
    /// A key or the kubeconfig of a server in the current process cannot be written.
    #[error(transparent)]
    Serving(#[from] serving::Error),
    /// There is no folder for the data of a server in the current process.
    #[error(transparent)]
    Folder(io::Error),
    /// The threads of a server in the current process cannot be started.
    #[error(transparent)]
    Runtime(io::Error),
    #[error("the server stopped during start-up")]
    Stopped,
    #[error("the server has no administrator credentials")]
    NoCredentials,
}
