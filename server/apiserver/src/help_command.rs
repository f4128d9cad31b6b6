//! `help`: prints the flags as text, as Markdown, as a manual page, or as shell completions.

use std::ffi::OsString;

use machinery::features::KnownGates;
use options::{Program, document};

use crate::standard_output;

/// Prints the flags in the requested form.
pub fn run(program: Program, gates: &KnownGates, words: &[OsString]) -> Result<(), String> {
    let form = match words {
        [] => "text".into(),
        [form] => form.to_string_lossy(),
        [_, other, ..] => return Err(format!("error: unexpected argument {other:?}")),
    };
    let text = document(program, gates, &form).map_err(|why| format!("error: {why}"))?;
    standard_output::write(text.as_bytes())
}
