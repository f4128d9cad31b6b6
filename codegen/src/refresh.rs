//! Brings a generated package up to date: writes what differs, removes what is no longer rendered.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Examined;
use crate::emit::{self, File};
use crate::model::Package;

/// Folders of a generated package that only the generator writes.
const OWNED: [&str; 3] = ["openapi", "proto", "src"];

/// Renders `package` from the definitions under `root` into `target`. With `check` it writes nothing and fails when anything
/// would have changed. The error is text for a person.
pub fn refresh(root: &Path, target: &Path, package: Package, check: bool) -> Result<(), String> {
    let Examined { model, diagnostics, ledger } = crate::examine(root);
    if diagnostics.has_errors() {
        return Err(diagnostics.to_string());
    }
    for warning in diagnostics.iter() {
        println!("cargo::warning={}: {}:{}", warning.message, warning.span.file.display(), warning.span.line);
    }
    crate::ledger::settle(root, &ledger, check).map_err(|diagnostics| diagnostics.to_string())?;
    let files = emit::render(&model, package);
    let stale = differences(target, &files).map_err(|e| format!("error: cannot read {}: {e}", target.display()))?;
    if stale.is_empty() {
        return Ok(());
    }
    if check {
        let mut text = String::from("error: generated files are not what api-defs/ says:\n");
        for path in stale.iter().map(Stale::path).take(20) {
            let _ = writeln!(text, "  {}", target.join(path).display());
        }
        text.push_str("  = help: run `cargo build` without CI set, and commit what it writes\n");
        return Err(text);
    }
    stale.iter().try_for_each(|s| s.apply(target)).map_err(|e| format!("error: cannot write {}: {e}", target.display()))
}

/// A file that is not as rendered.
enum Stale<'f> {
    Differs(&'f File),
    Gone(PathBuf),
}

impl Stale<'_> {
    fn path(&self) -> &Path {
        match self {
            Stale::Differs(file) => Path::new(&file.path),
            Stale::Gone(path) => path,
        }
    }

    /// Writes by temporary file and rename, so that a reader never sees half of it.
    fn apply(&self, target: &Path) -> io::Result<()> {
        match self {
            Stale::Gone(path) => fs::remove_file(target.join(path)),
            Stale::Differs(file) => {
                let path = target.join(&file.path);
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent)?;
                }
                let temporary = path.with_extension("tmp");
                fs::write(&temporary, &file.bytes)?;
                fs::rename(&temporary, &path)
            }
        }
    }
}

fn differences<'f>(target: &Path, files: &'f [File]) -> io::Result<Vec<Stale<'f>>> {
    let mut stale = Vec::new();
    let wanted: BTreeSet<&Path> = files.iter().map(|f| Path::new(&f.path)).collect();
    for file in files {
        match fs::read(target.join(&file.path)) {
            Ok(bytes) if bytes == file.bytes => {}
            Ok(_) => stale.push(Stale::Differs(file)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => stale.push(Stale::Differs(file)),
            Err(e) => return Err(e),
        }
    }
    for folder in OWNED {
        let mut found = Vec::new();
        list(&target.join(folder), &mut found)?;
        for path in found {
            let relative = path.strip_prefix(target).unwrap_or(&path).to_path_buf();
            if !wanted.contains(relative.as_path()) {
                stale.push(Stale::Gone(relative));
            }
        }
    }
    Ok(stale)
}

/// Every file below `folder`; none when it does not exist.
fn list(folder: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() { list(&path, out)? } else { out.push(path) }
    }
    Ok(())
}
