//! Output of text to standard output.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stdout};

use crate::error::CommandError;

/// Writes bytes. Ignores a closed pipe (`kube-apiserver --help | head`).
///
/// # Errors
/// Returns an error if the write fails for another reason, such as a full disk.
pub fn write(bytes: &[u8]) -> Result<(), CommandError> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => Err(CommandError::StandardOutput(why)),
        _ => Ok(()),
    }
}

/// Writes a line.
///
/// # Errors
/// Same as [`write`].
pub fn print_line(text: impl Display) -> Result<(), CommandError> {
    write(format!("{text}\n").as_bytes())
}
