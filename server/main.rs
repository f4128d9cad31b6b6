//! The program `kube-apiserver`, which serves all declared API groups.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kube_apiserver::server().run()
}
