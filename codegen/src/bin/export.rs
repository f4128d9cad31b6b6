//! Exports definitions to another format: `cargo run -p codegen --bin export -- FORMAT [--group G]
//! OUT_DIR`.
//!
//! See `docs/export.md`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match codegen::export::command(std::env::args().skip(1), &root, Path::new("")) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
