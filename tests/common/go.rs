//! Programs in Go that tests run against.

#![allow(dead_code, reason = "each test program uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Tests of one program build one at a time.
static BUILDING: Mutex<()> = Mutex::new(());

/// The program that stands in a folder of `tests/`, built. None, said on stderr, where it cannot be.
pub fn program(folder: &str) -> Option<PathBuf> {
    let _building = BUILDING.lock();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    match Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(sources).output() {
        Ok(output) if output.status.success() => Some(program),
        Ok(output) => {
            eprintln!("passing over: {folder} does not build: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(_) => {
            eprintln!("no go here: passing over");
            None
        }
    }
}
