//! Tests of the program `export`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn exports_groups_of_external_package() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/shop");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("export-of-a-package");
    let _ = fs::remove_dir_all(&out);
    let mut export = Command::new(env!("CARGO_BIN_EXE_export"));
    let done = export.args(["crd", "--defs"]).arg(&package).arg(&out).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let files: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["products.shop.example.com.yaml"]);
}
