//! Builds find `protoc` without user action: the system's, or the one that cargo downloads with this crate.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// Creates a folder for `PATH` with `uname` only, which the script needs.
fn few_programs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = env::var_os("PATH").unwrap();
    let uname = env::split_paths(&path).map(|folder| folder.join("uname")).find(|file| file.exists()).unwrap();
    symlink(uname, folder.path().join("uname")).unwrap();
    folder
}

/// Runs the repository's script with `--version`.
fn version(programs: &Path, cargo_home: Option<&Path>) -> Output {
    let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cargo/protoc"));
    script.arg("--version").env("PATH", programs);
    if let Some(cargo_home) = cargo_home {
        script.env("CARGO_HOME", cargo_home);
    }
    script.output().unwrap()
}

#[test]
fn a_system_without_protoc_has_that_of_the_registry() {
    let output = version(few_programs().path(), None);
    assert!(output.stdout.starts_with(b"libprotoc "), "{output:?}");
}

#[test]
fn the_protoc_of_the_system_is_preferred() {
    let programs = few_programs();
    let protoc = programs.path().join("protoc");
    fs::write(&protoc, "#!/bin/sh\necho \"the system's, $1\"\n").unwrap();
    fs::set_permissions(protoc, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(version(programs.path(), None).stdout, b"the system's, --version\n");
}

#[test]
fn without_any_protoc_the_message_names_what_to_set() {
    let programs = few_programs();
    let output = version(programs.path(), Some(programs.path()));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("PROTOC") && message.contains("protoc-bin-vendored"));
}
