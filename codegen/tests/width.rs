//! Checks that generated text is readable: no line is longer than the maximum line width of the
//! repository.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

/// The files of a folder and its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Excludes the ledger, whose lines are one fact each, and the OpenAPI bundle, which is compressed.
#[test]
fn no_generated_line_is_longer_than_120_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = ["generated", "tests/authored/generated", "tests/verdict/kinds/generated", "examples/shop/generated"];
    let is_read = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs" || ending == "proto");
    let all: Vec<PathBuf> = folders.iter().flat_map(|folder| files(&root.join(folder))).filter(is_read).collect();
    assert!(all.len() > 300, "only {} files", all.len());
    let mut wide = Vec::new();
    for path in all {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().zip(1..).filter(|(line, _)| line.chars().count() > 120);
        wide.extend(lines.map(|(_, number)| format!("{}:{number}", path.display())));
    }
    assert!(wide.is_empty(), "\n{}", wide.join("\n"));
}
