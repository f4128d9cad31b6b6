//! `kube-apiserver`: joins what was declared with the servers.

use std::process::ExitCode;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    apiserver::run(own::catalog(), Arc::new(controlplane::ControlPlane))
}
