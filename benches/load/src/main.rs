//! `load`: puts the same load on any Kubernetes API server, for comparable measurements.
//!
//! It reports throughput, latency and, for a process named by `--pid`, CPU time per operation and
//! peak memory. `docs/performance.md` has the figures and the commands that reproduce them.

mod client;
mod common;
mod measure;
mod objects;
mod process;
mod workloads;

use std::sync::Arc;

use clap::{Parser, Subcommand};
use dial::{error, kubeconfig};

use crate::client::Server;
use crate::error::Result;
use crate::workloads::{crd, create, custom, get, idle, informers, list, patch, prepare, saturation, watch};
pub use common::Common;
use common::TIMEOUT;

/// Puts load on a Kubernetes API server.
#[derive(Parser)]
#[command(name = "load", about, version)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    workload: Workload,
}

#[derive(Subcommand)]
enum Workload {
    /// Creates objects for the other workloads.
    Prepare(prepare::Options),
    /// Reads single pods.
    Get(get::Options),
    /// Lists all pods.
    List(list::Options),
    /// Changes one label of a pod by a merge patch.
    Patch,
    /// Creates objects.
    Create(create::Options),
    /// Watches config maps with many watchers while one is changed.
    Watch(watch::Options),
    /// Starts many informers concurrently, each with a watch of all objects.
    Informers(informers::Options),
    /// Reads pods while thousands of connections are idle.
    Idle(idle::Options),
    /// Reads pods before and during an attack by others.
    Saturation(saturation::Options),
    /// Runs the same operations on config maps and on custom objects of the same content.
    Custom(custom::Options),
    /// Creates many CRDs and an object of each; reports time and cost.
    Crd(crd::Options),
}

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run(cli)));
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> Result<()> {
    let server = Arc::new(Server::new(kubeconfig::read(&cli.common.kubeconfig)?)?);
    let common = &cli.common;
    prepare::namespace(&server, &common.namespace).await?;
    match cli.workload {
        Workload::Prepare(options) => prepare::run(&server, common, &options).await,
        Workload::Get(options) => get::run(server, common, &options).await,
        Workload::List(options) => list::run(server, common, &options).await,
        Workload::Patch => patch::run(server, common).await,
        Workload::Create(options) => create::run(server, common, &options).await,
        Workload::Watch(options) => watch::run(server, common, &options).await,
        Workload::Informers(options) => informers::run(server, common, &options).await,
        Workload::Idle(options) => idle::run(server, common, &options).await,
        Workload::Saturation(options) => saturation::run(server, common, &options).await,
        Workload::Custom(options) => custom::run(server, common, &options).await,
        Workload::Crd(options) => crd::run(&server, common, &options).await,
    }
}
