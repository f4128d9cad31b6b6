//! Converts CustomResourceDefinitions to definitions: `cargo run -p codegen --bin import -- FILE.yaml
//! .. PACKAGE`.
//!
//! See `docs/export.md`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use codegen::Error;
use codegen::import::{Imported, import};

const USAGE: &str = "usage: import FILE.yaml .. PACKAGE
  FILE.yaml  CustomResourceDefinitions of apiextensions.k8s.io/v1, one or several documents; - is standard input
  PACKAGE    folder that gets api-defs/ with the definitions; no file in it is replaced";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<String, Error> {
    let [inputs @ .., package] = words else { return Err(Error::Usage(USAGE)) };
    if inputs.is_empty() || words.iter().any(|word| word.starts_with("--")) {
        return Err(Error::Usage(USAGE));
    }
    let texts = inputs.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let Imported { files, warnings } = import(&texts.join("\n---\n"))?;
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    let package = Path::new(package);
    if let Some(file) = files.iter().find(|file| package.join(&file.path).exists()) {
        return Err(Error::Exists(package.join(&file.path)));
    }
    for file in &files {
        let path = package.join(&file.path);
        let written = fs::create_dir_all(path.with_file_name("")).and_then(|()| fs::write(&path, &file.bytes));
        written.map_err(Error::write(&path))?;
    }
    Ok(format!("{} files in {}, {} warnings", files.len(), package.display(), warnings.len()))
}

fn read(path: &str) -> Result<String, Error> {
    let text = if path == "-" { std::io::read_to_string(std::io::stdin()) } else { fs::read_to_string(path) };
    text.map_err(|source| Error::Read { path: path.into(), source })
}
