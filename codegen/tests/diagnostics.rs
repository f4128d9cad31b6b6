//! Checks that every diagnostic code has a case in `tests/diagnostics/<code>/` and a section in
//! `docs/api-defs-errors.md`.
//!
//! A case is a tree of definitions that triggers the code, and the complete output in `expected.txt`.
//! Its files are copied over `tests/diagnostics/common/`. `BLESS=1 cargo test -p codegen --test
//! diagnostics` rewrites the expected outputs; review the difference before committing it.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use codegen::diagnostics::codes;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            let _ = fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The output of a build of a case. Cases with a ledger are built as under CI, others as if theirs had
/// not been written yet.
fn report(code: &str) -> String {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diagnostics").join(code);
    let _ = fs::remove_dir_all(&root);
    copy(&cases().join("common"), &root);
    copy(&cases().join(code), &root);
    let examined = codegen::examine(&root);
    let text = examined.diagnostics.to_string();
    let settled = root.join("generated/ledger").is_dir() && !examined.diagnostics.has_errors();
    match settled.then(|| codegen::ledger::settle(&root, &examined.ledger, true)) {
        Some(Err(stale)) => text + &stale.to_string(),
        _ => text,
    }
}

#[test]
fn every_diagnostic_matches_snapshot() {
    let mut wrong = Vec::new();
    for (code, _) in codes::ALL {
        let path = cases().join(code.0).join("expected.txt");
        let (report, expected) = (report(code.0), fs::read_to_string(&path).unwrap_or_default());
        assert!(report.contains(&format!("[{code}]")), "the case of {code} does not provoke it:\n{report}");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &report).unwrap();
        } else if report != expected {
            wrong.push(format!("{code}: expected\n{expected}\ngot\n{report}"));
        }
    }
    assert!(wrong.is_empty(), "{}\nBLESS=1 accepts what is meant", wrong.join("\n"));
}

#[test]
fn every_code_has_case_and_section() {
    let codes: Vec<String> = codes::ALL.iter().map(|(code, _)| code.to_string()).collect();
    let folders =
        fs::read_dir(cases()).unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let folders: BTreeSet<String> = folders.filter(|name| name != "common").collect();
    assert_eq!(folders, codes.iter().cloned().collect());
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/api-defs-errors.md")).unwrap();
    let sections = page.lines().filter_map(|line| line.strip_prefix("### ")?.split(' ').next());
    let sections: Vec<String> = sections.map(str::to_string).collect();
    assert_eq!(sections, codes, "sections of docs/api-defs-errors.md, in order");
}
