//! The command line of the program `export`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{ExportFormat, export, go_packages};
use crate::{Error, Project};

const USAGE: &str =
    "usage: export crd|proto|openapi|markdown|rust|go|typescript [--group GROUP] [--defs ROOT] [--module PATH] OUT_DIR
  --group GROUP  only this group: its name or its folder in api-defs/
  --defs ROOT    folder that holds api-defs/, of a package too (default: this workspace)
  --module PATH  Go: where the exported packages import each other from, such as example.com/shop/clients";

/// Parsed command line arguments.
struct Arguments {
    format: ExportFormat,
    group: Option<String>,
    root: PathBuf,
    module: Option<String>,
    out: PathBuf,
}

/// Exports as the command line `words` states, and returns a summary for the user.
///
/// `root` is the project when no word names another. Paths in `words` are relative to `folder`.
///
/// # Errors
/// A message for the user: wrong words, errors in definitions, or files that cannot be written.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// let why = codegen::export::command(["crd".to_owned()], Path::new("."), Path::new(".")).unwrap_err();
/// assert!(why.to_string().starts_with("usage: export crd|proto|"));
/// ```
pub fn command(words: impl IntoIterator<Item = String>, root: &Path, folder: &Path) -> Result<String, Error> {
    let arguments = arguments(words.into_iter(), root)?;
    let project = Project::at(folder.join(&arguments.root));
    let model = crate::load_project(&project)?;
    let group = arguments.group.as_deref();
    let files = match &arguments.module {
        Some(module) => go_packages(&model, group, module)?,
        None => export(&model, arguments.format, group)?,
    };
    for file in &files {
        let path = folder.join(&arguments.out).join(&file.path);
        let written = fs::create_dir_all(path.with_file_name("")).and_then(|()| fs::write(&path, &file.bytes));
        written.map_err(Error::write(&path))?;
    }
    Ok(format!("{} files in {}", files.len(), arguments.out.display()))
}

fn arguments(mut given: impl Iterator<Item = String>, root: &Path) -> Result<Arguments, Error> {
    let mut words = Vec::new();
    let (mut group, mut module, mut root) = (None, None, root.to_owned());
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
            let format = ExportFormat::named(format)?;
            if module.is_some() && format != ExportFormat::Go {
                return Err(Error::Usage("`--module` is for Go"));
            }
            Ok(Arguments { format, group, root, module, out: out.into() })
        }
        _ => Err(Error::Usage(USAGE)),
    }
}
