//! Options of every workload.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Options of every workload.
#[derive(Args, Clone)]
pub struct Common {
    /// The kubeconfig with the server and the credentials.
    #[arg(long)]
    pub(super) kubeconfig: PathBuf,
    /// The namespace of the objects; created when it does not exist.
    #[arg(long, default_value = "load")]
    pub(super) namespace: String,
    /// A process whose CPU time and memory are measured.
    #[arg(long)]
    pub(super) pid: Option<u32>,
    /// Number of concurrent clients, each with a separate connection.
    #[arg(long, default_value_t = 1)]
    pub(super) clients: usize,
    /// Total number of operations.
    #[arg(long, default_value_t = 1000)]
    pub(super) operations: usize,
    /// Start this many operations per second whether or not earlier ones have ended (open loop); 0:
    /// each client runs one after the other.
    #[arg(long, default_value_t = 0.0)]
    pub(super) rate: f64,
}

/// Maximum time of any operation; the run is aborted after it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(120);
