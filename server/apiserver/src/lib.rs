//! Joins catalog, behaviour and servers into the program: one call from `main`.

mod backends;
mod convert_command;
mod delegation;
mod enabled;
mod list_sizes;
mod metered_store;
mod run;
mod snapshot_command;
mod store_monitor;

use std::process::ExitCode;
use std::sync::Arc;

use endpoints::Behaviour;
use machinery::catalog::Catalog;
use serving::options;

/// Runs the program: a subcommand, or the server until it is told to stop.
pub fn run(catalog: &'static Catalog, behaviour: Arc<dyn Behaviour>) -> ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let rest = args.get(1..).unwrap_or_default();
    let outcome = match options::subcommand(rest) {
        Some(("convert", rest)) => convert_command::run(catalog, rest),
        Some(("snapshot", rest)) => snapshot_command::run(rest),
        Some((other, _)) => Err(format!(
            "error: unknown command {other:?}; there are: convert, snapshot (and no command: run the server)"
        )),
        None => run::serve(catalog, behaviour, args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
