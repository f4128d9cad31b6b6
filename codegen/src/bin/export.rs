//! Writes definitions in another form: `cargo run -p codegen --bin export -- crd|proto|openapi|markdown [--group G] OUT_DIR`. See
//! `docs/export.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use codegen::Project;
use codegen::export::{Format, export};

const USAGE: &str = "usage: export crd|proto|openapi|markdown [--group GROUP] [--defs ROOT] OUT_DIR
  --group GROUP  only this group: its name or its folder in api-defs/
  --defs ROOT    folder that holds api-defs/, of a package too (default: this workspace)";

/// The command line, read.
struct Arguments {
    format: Format,
    group: Option<String>,
    root: PathBuf,
    out: PathBuf,
}

fn main() -> ExitCode {
    match arguments(std::env::args().skip(1)).and_then(run) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut words = Vec::new();
    let (mut group, mut root) = (None, Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    while let Some(word) = given.next() {
        match word.as_str() {
            "--group" => group = Some(given.next().ok_or(USAGE)?),
            "--defs" => root = given.next().ok_or(USAGE)?.into(),
            _ => words.push(word),
        }
    }
    match words.as_slice() {
        [format, out] => Ok(Arguments { format: Format::named(format)?, group, root, out: out.into() }),
        _ => Err(USAGE.to_string()),
    }
}

fn run(arguments: Arguments) -> Result<String, String> {
    let model = codegen::load_project(&Project::at(&arguments.root)).map_err(|diagnostics| diagnostics.to_string())?;
    let files = export(&model, arguments.format, arguments.group.as_deref())?;
    for file in &files {
        let path = arguments.out.join(&file.path);
        let written = fs::create_dir_all(path.with_file_name("")).and_then(|()| fs::write(&path, &file.bytes));
        written.map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    Ok(format!("{} files in {}", files.len(), arguments.out.display()))
}
