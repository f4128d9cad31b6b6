//! `differential`: compares the behavior of two API servers for their clients.
//!
//! Generated conversations are sent to both. A conversation with different responses is minimised
//! and written to a file.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use clap::Parser;
use clap::builder::PossibleValuesParser;
use differential::catalog::Catalog;
use differential::client::Remote;
use differential::error::{Error, Result};
use differential::run::Run;
use differential::{generate, kubeconfig, replay};

/// Sends generated conversations to two API servers and prints the differences of their responses.
#[derive(Parser)]
#[command(name = "differential", about, version)]
struct Cli {
    /// The reference server.
    #[arg(long)]
    upstream: Option<PathBuf>,
    /// The server that is compared with it.
    #[arg(long)]
    here: PathBuf,
    /// Seeds of the conversations, FROM..TO.
    #[arg(long)]
    seeds: Option<String>,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Duration of the run from `--seed`.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Only seeds with a conversation of this area; may be repeated.
    #[arg(long = "area", value_parser = PossibleValuesParser::new(generate::areas()))]
    areas: Vec<String>,
    /// Folder for conversations that differ.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Print the conversations instead of sending them.
    #[arg(long)]
    show: bool,
    /// Send the recorded conversations of this folder instead, and compare with their responses.
    #[arg(long)]
    replay: Option<PathBuf>,
    /// Send the conversations of this folder to `--here`, and record its responses in their files.
    #[arg(long)]
    record: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("differential: {error}");
            ExitCode::from(2)
        }
    }
}

/// Reports whether the servers behave alike.
async fn run(cli: Cli) -> Result<bool> {
    let here = Remote::new(kubeconfig::read(&cli.here)?)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let prefix = format!("{:x}-", now.as_secs() & 0xff_ffff);
    if let Some(folder) = &cli.replay {
        return replayed(&here, folder, &prefix).await;
    }
    if let Some(folder) = &cli.record {
        return recorded(&here, folder, &prefix).await;
    }
    let missing = || Error::Other("--upstream or --replay is needed".into());
    let upstream = Remote::new(kubeconfig::read(cli.upstream.as_deref().ok_or_else(missing)?)?)?;
    let catalog = Catalog::fetch(&upstream).await?;
    let (from, to) = match &cli.seeds {
        Some(range) => bounds(range)?,
        None => (cli.seed, u64::MAX),
    };
    let end = cli.seeds.is_none().then(|| Instant::now() + Duration::from_secs_f64(cli.minutes * 60.0));
    let mut run = Run::new(&upstream, &here, &prefix, cli.out);
    let wanted = |seed: &u64| cli.areas.is_empty() || cli.areas.iter().any(|area| area == generate::area_of(*seed));
    for seed in (from..to).filter(wanted) {
        if end.is_some_and(|end| Instant::now() > end) {
            println!("the last seed was {}", seed.saturating_sub(1));
            break;
        }
        if cli.show {
            print!("{}", generate::generate(&catalog, seed).to_text());
        } else {
            run.seed(&catalog, seed).await?;
        }
    }
    print!("{}", run.summary());
    Ok(run.families.is_empty())
}

async fn replayed(here: &Remote, folder: &std::path::Path, prefix: &str) -> Result<bool> {
    let talks = replay::read_folder(folder)?;
    let mut differing = 0;
    for (at, talk) in talks.iter().enumerate() {
        let complaints = replay::replay(here, talk, &format!("{prefix}{at:x}")).await?;
        complaints.iter().for_each(|complaint| println!("{complaint}"));
        differing += usize::from(!complaints.is_empty());
    }
    println!("{} of {} conversations match their recording", talks.len() - differing, talks.len());
    Ok(differing == 0)
}

async fn recorded(here: &Remote, folder: &std::path::Path, prefix: &str) -> Result<bool> {
    for (at, file) in replay::files(folder)?.iter().enumerate() {
        let mut talk = replay::read(file)?;
        replay::record(here, &mut talk, &format!("{prefix}{at:x}")).await?;
        std::fs::write(file, talk.to_text())?;
    }
    Ok(true)
}

fn bounds(range: &str) -> Result<(u64, u64)> {
    let ends = range.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    ends.ok_or_else(|| Error::Other(format!("{range} is no range such as 0..100")))
}
