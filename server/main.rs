//! `kube-apiserver`: the server of everything that was declared, as a program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    kube_apiserver::server().run()
}
