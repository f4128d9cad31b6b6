//! `help`: prints the flags as text, as Markdown, as a manual page, or as shell completions.

use std::ffi::OsString;

use machinery::features::KnownGates;
use options::{ServerProgram, document};

use crate::error::CommandError;
use crate::standard_output;

/// Prints the flags in the requested form.
///
/// # Errors
/// The form is unknown, or the flags cannot be written.
pub fn run(program: ServerProgram, gates: &KnownGates, words: &[OsString]) -> Result<(), CommandError> {
    let form = match words {
        [] => "text".into(),
        [form] => form.to_string_lossy(),
        [_, other, ..] => return Err(CommandError::UnexpectedArgument { argument: other.clone() }),
    };
    let text = document(program, gates, &form)?;
    standard_output::write(text.as_bytes())
}
