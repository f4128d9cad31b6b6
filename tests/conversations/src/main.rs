//! `conversations`: replays recorded conversations on an API server, and packs recordings.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use conversations::archive;
use conversations::client::Remote;
use conversations::digest;
use conversations::error::{Error, Result};
use conversations::known::Known;
use conversations::play::play;
use conversations::report;
use conversations::run::replay;
use serde_json::Value;

/// Replays recorded conversations with kube-apiserver on an API server.
#[derive(Parser)]
#[command(name = "conversations", about, version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sends the requests and compares the answers. Exit status: 0 all match, 1 some differ, 2 could not run.
    Replay(Replay),
    /// Sends the requests of unpacked scenarios and writes the answers into their files.
    Record(Record),
    /// Compares the server's OpenAPI documents with the recorded digests.
    Openapi(Openapi),
    /// Packs the recordings of a folder.
    Pack {
        /// The folder of unpacked recordings.
        from: PathBuf,
        /// The folder of packed recordings.
        to: PathBuf,
    },
    /// Unpacks recordings into a folder.
    Unpack {
        /// The folder of packed recordings.
        from: PathBuf,
        /// The folder of unpacked recordings.
        to: PathBuf,
    },
}

/// The server and its users.
#[derive(Args)]
struct Target {
    /// The server, and the user that steps call admin: a member of system:masters.
    #[arg(long)]
    kubeconfig: PathBuf,
    /// A further user and its token; may be given several times.
    #[arg(long = "user", value_name = "NAME=TOKEN")]
    users: Vec<String>,
}

#[derive(Args)]
struct Replay {
    #[command(flatten)]
    target: Target,
    /// The folder of packed recordings; by default that of the repository.
    #[arg(long)]
    recordings: Option<PathBuf>,
    /// Only scenarios of this area; may be given several times.
    #[arg(long = "area")]
    areas: Vec<String>,
    /// Only scenarios of this name; may be given several times.
    #[arg(long = "scenario")]
    scenarios: Vec<String>,
    /// A flag that the server was started with: only scenarios that require exactly these flags are sent.
    #[arg(long = "with", value_name = "FLAG", allow_hyphen_values = true)]
    flags: Vec<String>,
    /// How many scenarios are sent at a time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// A file for all results as JSON, with the answers that differ.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Steps that are known to differ.
    #[arg(long)]
    known: Option<PathBuf>,
    /// A file of an unpacked scenario, in place of the packed recordings; may be given several times.
    #[arg(long = "file")]
    files: Vec<PathBuf>,
}

#[derive(Args)]
struct Record {
    #[command(flatten)]
    target: Target,
    /// Files of unpacked scenarios.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

#[derive(Args)]
#[group(skip)]
struct Openapi {
    /// The server.
    #[arg(long, required_unless_present = "document")]
    kubeconfig: Option<PathBuf>,
    /// A document of OpenAPI v2 in a file, in place of those of a server.
    #[arg(long, conflicts_with = "kubeconfig")]
    document: Option<PathBuf>,
    /// The folder of packed recordings; by default that of the repository.
    #[arg(long)]
    recordings: Option<PathBuf>,
    /// Writes the digests of the server into this folder instead.
    #[arg(long)]
    write: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Replay(command) => replayed(command).await,
        Command::Record(command) => recorded(command).await,
        Command::Openapi(command) => compared(command).await,
        Command::Pack { from, to } => archive::pack(&from, &to).map(|()| true),
        Command::Unpack { from, to } => archive::unpack(&from, &to).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("conversations: {error}");
            ExitCode::from(2)
        }
    }
}

impl Target {
    fn connect(&self) -> Result<Remote> {
        let pair = |user: &String| {
            let pair = user.split_once('=').map(|(name, token)| (name.to_string(), token.to_string()));
            pair.ok_or_else(|| Error::format(Path::new("--user"), format!("{user} is not NAME=TOKEN")))
        };
        Remote::new(&self.kubeconfig, self.users.iter().map(pair).collect::<Result<HashMap<_, _>>>()?)
    }
}

/// Whether all steps match.
async fn replayed(command: Replay) -> Result<bool> {
    let recordings = command.recordings.unwrap_or_else(archive::recordings);
    let mut scenarios = if command.files.is_empty() {
        archive::scenarios(&recordings, &command.areas)?
    } else {
        let read = |path: &PathBuf| archive::scenario_of_file(path).map(|(_, scenario)| scenario);
        command.files.iter().map(read).collect::<Result<_>>()?
    };
    let mut flags = command.flags;
    flags.sort();
    scenarios.retain(|scenario| {
        let mut requires = scenario.requires.clone();
        requires.sort();
        requires == flags && (command.scenarios.is_empty() || command.scenarios.contains(&scenario.name))
    });
    let scenarios: Vec<_> = scenarios.into_iter().map(Arc::new).collect();
    let outcomes = replay(&Arc::new(command.target.connect()?), &scenarios, command.jobs).await;
    if let Some(path) = &command.report {
        archive::write(path, &report::json(&outcomes).to_string())?;
    }
    print!("{}{}", report::differences(&outcomes), report::areas(&outcomes));
    match &command.known {
        Some(path) => {
            let known = Known::read(path)?;
            Ok(!outcomes.iter().any(|outcome| known.is_surprise(outcome)))
        }
        None => Ok(outcomes.iter().all(|outcome| outcome.matches()) && !outcomes.is_empty()),
    }
}

/// Whether all steps have an answer. A file with a step that has none is left as it is.
async fn recorded(command: Record) -> Result<bool> {
    let server = command.target.connect()?;
    let mut all = true;
    for path in &command.files {
        let (mut document, mut scenario) = archive::scenario_of_file(path)?;
        scenario.steps.iter_mut().for_each(|step| step.response = None);
        let played = play(&server, &scenario).await;
        if let Some(failed) = played.iter().find(|step| step.answer.is_none()) {
            println!("{}: {}: {}", path.display(), failed.id, failed.differences.join("; "));
            all = false;
            continue;
        }
        for (at, played) in played.into_iter().enumerate() {
            let step = &mut document["steps"][at];
            if let Some(events) = played.events {
                step["watch"]["events"] = events.into();
            }
            let mut answer = played.answer.unwrap_or(Value::Null);
            archive::remove_descriptions(&mut answer);
            step["response"] = answer;
        }
        archive::write(path, &archive::unpacked(&document))?;
    }
    Ok(all)
}

/// Whether the documents have the recorded structure.
async fn compared(command: Openapi) -> Result<bool> {
    let recordings = command.recordings.unwrap_or_else(archive::recordings);
    let mut digests = Vec::new();
    if let Some(path) = &command.document {
        digests.push((2, digest::of_document(&archive::read_json(path)?)));
    }
    if let Some(kubeconfig) = &command.kubeconfig {
        let server = Remote::new(kubeconfig, HashMap::new())?;
        for version in [2, 3] {
            digests.push((version, digest::of_server(&server, version).await?));
        }
    }
    let mut same = true;
    for (version, got) in digests {
        if let Some(folder) = &command.write {
            let path = folder.join(format!("openapi-v{version}-digest.json"));
            archive::write(&path, &digest::text(&got)?)?;
            continue;
        }
        let found = digest::differences(&archive::digest(&recordings, version)?, &got);
        found.iter().for_each(|difference| println!("OpenAPI v{version}: {difference}"));
        println!("OpenAPI v{version}: {} differences", found.len());
        same &= found.is_empty();
    }
    Ok(same)
}
