//! An API server of the group `@group@`, behind kube-apiserver.

use std::process::ExitCode;

use apiserver::Server;

fn main() -> ExitCode {
    Server::delegating("@name@", @library@::groups()).run()
}
