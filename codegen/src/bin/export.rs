//! Exports definitions to another format: `cargo run -p codegen --bin export -- FORMAT [--group G]
//! OUT_DIR`.
//!
//! See `docs/export.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use codegen::export::{Format, export, go_packages};
use codegen::{Error, Project};

const USAGE: &str =
    "usage: export crd|proto|openapi|markdown|rust|go|typescript [--group GROUP] [--defs ROOT] [--module PATH] OUT_DIR
  --group GROUP  only this group: its name or its folder in api-defs/
  --defs ROOT    folder that holds api-defs/, of a package too (default: this workspace)
  --module PATH  Go: where the exported packages import each other from, such as example.com/shop/clients";

/// Parsed command line arguments.
struct Arguments {
    format: Format,
    group: Option<String>,
    root: PathBuf,
    module: Option<String>,
    out: PathBuf,
}

fn main() -> ExitCode {
    match arguments(std::env::args().skip(1)).and_then(run) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Arguments, Error> {
    let mut words = Vec::new();
    let (mut group, mut module, mut root) = (None, None, Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    while let Some(word) = given.next() {
        match word.as_str() {
            "--group" => group = Some(given.next().ok_or(Error::Usage(USAGE))?),
            "--module" => module = Some(given.next().ok_or(Error::Usage(USAGE))?),
            "--defs" => root = given.next().ok_or(Error::Usage(USAGE))?.into(),
            _ => words.push(word),
        }
    }
    match words.as_slice() {
        [format, out] => {
            let format = Format::named(format)?;
            if module.is_some() && format != Format::Go {
                return Err(Error::Usage("`--module` is for Go"));
            }
            Ok(Arguments { format, group, root, module, out: out.into() })
        }
        _ => Err(Error::Usage(USAGE)),
    }
}

fn run(arguments: Arguments) -> Result<String, Error> {
    let model = codegen::load_project(&Project::at(&arguments.root))?;
    let group = arguments.group.as_deref();
    let files = match &arguments.module {
        Some(module) => go_packages(&model, group, module)?,
        None => export(&model, arguments.format, group)?,
    };
    for file in &files {
        let path = arguments.out.join(&file.path);
        let written = fs::create_dir_all(path.with_file_name("")).and_then(|()| fs::write(&path, &file.bytes));
        written.map_err(Error::write(&path))?;
    }
    Ok(format!("{} files in {}", files.len(), arguments.out.display()))
}
