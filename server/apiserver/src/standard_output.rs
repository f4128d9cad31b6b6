//! Text on standard output.

use std::fmt::Display;
use std::io::{ErrorKind, Write, stdout};

/// Writes bytes. A reader that has closed its end of a pipe (`kube-apiserver --help | head`) has what it wants.
///
/// # Errors
/// When the text cannot be written for another reason, such as a full disk.
pub fn write(bytes: &[u8]) -> Result<(), String> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => Err(format!("error: standard output: {why}")),
        _ => Ok(()),
    }
}

/// Writes a line, as [`write`] does.
///
/// # Errors
/// As [`write`].
pub fn print_line(text: impl Display) -> Result<(), String> {
    write(format!("{text}\n").as_bytes())
}
