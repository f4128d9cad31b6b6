//! `kube-apiserver`: joins what was declared with the servers.

use std::process::ExitCode;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    apiserver::run(&generated::CATALOG, Arc::new(controlplane::ControlPlane))
}
