//! `kube-apiserver etcd`: serves etcd's API from the embedded store, also when the program is called as
//! `etcd`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use etcd_server::{Options, Parsed};

use crate::error::CommandError;
use crate::standard_output;

/// Whether the program was called by the name of etcd, through a link or a copy.
pub fn is_called_as_etcd(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("etcd"))
}

/// Runs the command until a signal stops the process.
///
/// # Errors
/// The arguments are invalid, the server cannot start, or the store failed.
pub fn run(program: &'static str, args: &[OsString]) -> Result<(), CommandError> {
    match Options::parse(program, args, std::env::vars_os())? {
        Parsed::Print(text) => standard_output::write(text.as_bytes()),
        Parsed::Run(options) => Ok(etcd_server::run(&options)?),
    }
}
