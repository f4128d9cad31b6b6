//! The program `kube-apiserver`, which serves all declared API groups.

mod allocator;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

fn main() -> ExitCode {
    kube_apiserver::server().run()
}
