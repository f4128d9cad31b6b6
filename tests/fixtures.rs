//! The packages of `examples/testing` for tests in Python and JavaScript.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::path::Path;
use std::process::Command;

use common::PROGRAM;
use needs::needs;

/// Runs the tests of a package with its interpreter. Nothing is written into the package.
#[track_caller]
fn check(folder: &str, program: &str, args: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/testing").join(folder);
    let mut command = Command::new(program);
    command.args(args).current_dir(&folder).env("KUBE_APISERVER", PROGRAM);
    command.env("PYTHONPATH", folder.join("src")).env("PYTHONDONTWRITEBYTECODE", "1");
    let outcome = common::run(&mut command, b"");
    assert!(outcome.ok, "{}{}", outcome.stdout, outcome.stderr);
}

#[needs(python3)]
#[test]
fn python_package_starts_servers() {
    check("python", "python3", &["-m", "unittest", "discover", "-s", "tests", "-p", "test_server.py"]);
}

#[needs(pytest)]
#[test]
fn pytest_plugin_has_a_server_per_session() {
    let plugins = ["-p", "no:cacheprovider", "-p", "pytest_kube_apiserver.plugin"];
    check("python", "python3", &[&["-m", "pytest", "-q"], &plugins[..], &["tests/test_fixture.py"]].concat());
}

#[needs(node)]
#[test]
fn node_package_starts_servers() {
    check("node", "node", &["--test", "test/server.test.js"]);
}
