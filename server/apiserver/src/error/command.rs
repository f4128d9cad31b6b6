//! Errors of commands.

use std::ffi::OsString;
use std::io;

use super::NewError;
use crate::convert;

/// The reason why a command fails.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("unknown command {command:?}; there are: {known} (and no command: run the server)")]
    UnknownCommand { command: String, known: String },
    /// The flags of the server, or of a command that opens its store, are invalid.
    #[error(transparent)]
    Options(#[from] options::Error),
    #[error("unexpected argument {argument:?}")]
    UnexpectedArgument { argument: OsString },
    #[error("{flag} needs a value\n{usage}")]
    NoValue { flag: String, usage: &'static str },
    #[error("unknown flag {flag}\n{usage}")]
    UnknownFlag { flag: String, usage: &'static str },
    #[error("unknown command {verb:?}\n{usage}")]
    UnknownVerb { verb: String, usage: &'static str },
    #[error("unknown form {form:?}; there are {known}")]
    UnknownForm { form: String, known: &'static str },
    /// A file or standard input cannot be read.
    #[error("reading {input}: {source}")]
    Read { input: String, source: io::Error },
    /// Standard output cannot be written.
    #[error("standard output: {0}")]
    StandardOutput(#[source] io::Error),
    /// `convert` cannot decode or convert the object.
    #[error(transparent)]
    Convert(#[from] convert::Error),
    /// `snapshot` cannot read or write a store or its file.
    #[error(transparent)]
    Store(#[from] storage::Error),
    /// `etcd` cannot start, or stopped because of a failure.
    #[error(transparent)]
    Etcd(#[from] etcd_server::Error),
    /// `new` writes no crate.
    #[error(transparent)]
    New(#[from] NewError),
}
