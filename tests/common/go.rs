//! Go programs that tests run against.

#![allow(dead_code, reason = "each test program uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Serializes the builds of one test process.
static BUILDING: Mutex<()> = Mutex::new(());

/// Builds the program in a folder of `tests/`; returns its path.
pub fn program(folder: &str) -> PathBuf {
    let _building = BUILDING.lock();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let built = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(sources).output().unwrap();
    assert!(built.status.success(), "{folder} does not build: {}", String::from_utf8_lossy(&built.stderr));
    program
}
