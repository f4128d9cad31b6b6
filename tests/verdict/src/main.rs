//! `cargo run -p verdict -- --seed 1 --objects 100000 [--upstream KUBECONFIG]`: see
//! `docs/api-defs.md`, "One verdict".

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use verdict::error::Result;
use verdict::kinds::Kinds;
use verdict::run::{Local, Plan, remotes, run};
use verdict::side::{Served, Side};

/// Sends generated objects to declared kinds and to their exported definitions, and shows where the
/// verdicts differ.
#[derive(Parser)]
struct Arguments {
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Minimum number of objects.
    #[arg(long, default_value_t = 10_000)]
    objects: u64,
    /// Number of differences to minimise.
    #[arg(long, default_value_t = 30)]
    differences: usize,
    /// Compares custom resources of this server with those of another server, instead of declared
    /// kinds with custom resources.
    #[arg(long)]
    upstream: Option<PathBuf>,
    /// Prints how often each field was rejected.
    #[arg(long)]
    fields: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match compare(&Arguments::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reports whether there was no difference.
async fn compare(arguments: &Arguments) -> Result<bool> {
    let kinds = Kinds::read()?;
    let custom = Local::start(Served::ByDefinition, &kinds).await?;
    let plan = Plan { seed: arguments.seed, objects: arguments.objects, differences: arguments.differences };
    let report = match &arguments.upstream {
        Some(kubeconfig) => {
            let remotes = remotes(kubeconfig)?;
            let upstream = Side { name: "upstream", served: Served::ByDefinition, remotes, store: None };
            upstream.install(&kinds).await?;
            upstream.wait_for(&kinds).await?;
            run(&kinds, [&custom.side, &upstream], plan).await?
        }
        None => {
            let native = Local::start(Served::Natively, &kinds).await?;
            run(&kinds, [&native.side, &custom.side], plan).await?
        }
    };
    if arguments.fields {
        report.fields.iter().for_each(|(field, count)| println!("{count:>8} {field}"));
    }
    println!("{}{}", report.differences(), report.figures());
    Ok(report.counts.is_empty())
}
