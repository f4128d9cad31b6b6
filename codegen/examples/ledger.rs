//! Updates `generated/ledger/` below a directory (default: the current one), as a build does.
//!
//! Usage: `cargo run -q -p codegen --example ledger [DIRECTORY]`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_string()));
    let examined = codegen::examine(&root);
    eprint!("{}", examined.diagnostics);
    if examined.diagnostics.has_errors() {
        return ExitCode::FAILURE;
    }
    match codegen::ledger::settle(&root, &examined.ledger, false) {
        Ok(()) => ExitCode::SUCCESS,
        Err(diagnostics) => {
            eprint!("{diagnostics}");
            ExitCode::FAILURE
        }
    }
}
