//! Errors of commands.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::{AssetsError, NewError};
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
    /// There is no kubeconfig of the administrator. A server writes it if it issues client certificates.
    #[error(
        "{}: {source}; a server with this --data-dir writes the file at its start, unless --client-ca-file is set",
        path.display()
    )]
    NoKubeconfig { path: PathBuf, source: io::Error },
    #[error("{} does not name a server", path.display())]
    NoServer { path: PathBuf },
    /// `probe` gets no answer.
    #[error(transparent)]
    Probe(#[from] webhook::Error),
    /// The server answers a probe with an error.
    #[error("{path}: {status}\n{body}")]
    ProbeFailed { path: String, status: http::StatusCode, body: String },
    /// The threads of a command cannot be started.
    #[error(transparent)]
    Runtime(io::Error),
    /// `etcd` cannot start, or stopped because of a failure.
    #[error(transparent)]
    Etcd(#[from] etcd_server::Error),
    /// `assets` makes no folder.
    #[error(transparent)]
    Assets(#[from] AssetsError),
    /// `new` writes no crate.
    #[error(transparent)]
    New(#[from] NewError),
}
