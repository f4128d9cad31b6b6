//! Errors of the command line and of the start.

use std::{io, path::PathBuf};

/// Why the server does not start, or stops.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command line has a flag that etcd does not have.
    #[error("flag provided but not defined: -{name}; see {program} --help")]
    UnknownFlag {
        /// The flag without hyphens.
        name: String,
        /// How the program was called.
        program: &'static str,
    },
    /// A flag needs a value.
    #[error("flag needs an argument: --{name}")]
    NoValue {
        /// The flag.
        name: String,
    },
    /// A flag has a value that is not allowed.
    #[error("invalid value {value:?} for --{name}: {reason}")]
    InvalidValue {
        /// The flag.
        name: String,
        /// The value.
        value: String,
        /// What is wrong.
        reason: String,
    },
    /// A flag of etcd that this server cannot obey.
    #[error("--{name}={value} is not supported: {reason}")]
    Unsupported {
        /// The flag.
        name: String,
        /// The value.
        value: String,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// The command line has an argument that is not a flag.
    #[error("{argument:?} is not a valid flag; see {program} --help")]
    Argument {
        /// The argument.
        argument: String,
        /// How the program was called.
        program: &'static str,
    },
    /// A certificate or key cannot be used.
    #[error("{}: {reason}", file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// TLS cannot be configured.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// An address cannot be listened at.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The data directory belongs to an etcd.
    #[error(
        "{} has the data of an etcd (the folder `member`); this server stores its data in another form. \
         Copy the keys with a client, or use an empty directory", dir.display()
    )]
    DataOfEtcd {
        /// The data directory.
        dir: PathBuf,
    },
    /// The store cannot be opened, or failed.
    #[error(transparent)]
    Store(#[from] storage::Error),
    /// The threads of the server cannot be started.
    #[error("cannot start the threads of the server: {0}")]
    Runtime(#[source] io::Error),
    /// Metrics are registered twice.
    #[error(transparent)]
    Metrics(#[from] prometheus::Error),
}
