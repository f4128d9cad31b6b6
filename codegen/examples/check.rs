//! Prints the diagnostics of `api-defs/` below a directory (default: the current one), or the size of
//! the model and the time it took.
//!
//! Usage: `cargo run -q -p codegen --example check [DIRECTORY]`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_string()));
    let start = Instant::now();
    let codegen::Examined { model, diagnostics, .. } = codegen::examine(&root);
    let (structs, enums) = (model.structs.len(), model.enums.len());
    let fields: usize = model.structs.iter().map(|one| one.fields.len()).sum();
    let kinds: usize = model.groups.iter().map(|group| group.kinds.len()).sum();
    let millis = start.elapsed().as_millis();
    eprint!("{diagnostics}");
    println!("{kinds} kinds, {structs} structs, {fields} fields, {enums} enums in {millis} ms");
    if diagnostics.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
