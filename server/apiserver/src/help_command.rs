//! `help`: the flags as a page in Markdown, a manual page, or completions for a shell.

use std::ffi::OsString;

use machinery::features::KnownGates;
use serving::options::{Program, document};

use crate::standard_output;

/// Prints the flags in the form that the word names.
pub fn run(program: Program, gates: &KnownGates, words: &[OsString]) -> Result<(), String> {
    let text = match words {
        [] => return Err(format!("error: say in which form, such as: {} help markdown", program.name())),
        [form] => document(program, gates, &form.to_string_lossy()).map_err(|why| format!("error: {why}"))?,
        [_, other, ..] => return Err(format!("error: unexpected argument {other:?}")),
    };
    standard_output::write(text.as_bytes())
}
