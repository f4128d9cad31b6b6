//! Errors of options, and of files that options name.

mod box_error;
mod document;
mod egress;
mod file;
mod flag;
mod value;

use std::io;
use std::path::PathBuf;

pub use document::DocumentError;
pub use egress::EgressError;
pub use flag::{FlagError, FlagErrors};
pub use value::ValueError;

use crate::words::FORMS;
pub use box_error::BoxError;
pub use file::FileError;

/// An invalid option, or an unusable file that an option names.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line has an unknown flag, a flag without a value, or an argument.
    #[error("{}", usage(.0))]
    Usage(#[source] clap::Error),
    /// The values of flags are invalid; the texts state the corrections.
    #[error(transparent)]
    Flags(#[from] FlagErrors),
    /// The command line requests a text, such as the help; not a failure.
    #[error("{0}")]
    Print(String),
    /// The format of a document of the flags is unknown.
    #[error("unknown form {form:?}; there are: {FORMS}")]
    UnknownForm { form: String },
    /// A document of the flags cannot be written.
    #[error(transparent)]
    Render(io::Error),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content of a file is invalid.
    #[error("{}: {source}", path.display())]
    Content { path: PathBuf, source: BoxError },
    /// A configuration document is invalid.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A kubeconfig is unusable.
    #[error(transparent)]
    Kubeconfig(#[from] webhook::Error),
    /// The component that an option configures rejects it.
    #[error(transparent)]
    Invalid(BoxError),
}

impl Error {
    /// Makes the error of a file that cannot be read or written.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let failed = FileError::of(path);
        move |source| failed(source).into()
    }

    /// Makes the error of a file with invalid content.
    pub fn content(path: impl Into<PathBuf>, why: impl Into<BoxError>) -> Self {
        Error::Content { path: path.into(), source: why.into() }
    }

    /// Makes the error of a component that rejects its options.
    pub fn invalid(why: impl Into<BoxError>) -> Self {
        Error::Invalid(why.into())
    }
}

impl From<FlagError> for Error {
    fn from(error: FlagError) -> Self {
        FlagErrors::from(error).into()
    }
}

/// The text of clap, without its prefix: the program has its own.
fn usage(error: &clap::Error) -> String {
    error.to_string().trim_start_matches("error: ").trim_end().to_owned()
}
