//! `kube-apiserver new`: generates a crate with a new API group, which builds and passes its test.

mod checkout;
mod files;
mod names;

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{CommandError, NewError};
use crate::standard_output;
use checkout::Checkout;
use files::Scaffold;

use crate::error::USAGE;

/// The arguments of the command.
#[derive(Debug, Default, PartialEq)]
struct Request {
    folder: PathBuf,
    group: Option<String>,
    kind: Option<String>,
    checkout: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// The arguments are invalid, or the crate cannot be written.
pub fn run(args: &[OsString]) -> Result<(), CommandError> {
    if args.iter().any(|a| a == "--help" || a == "-h") {
        return standard_output::print_line(USAGE);
    }
    let text = parse(args).and_then(|request| create(&request))?;
    standard_output::print_line(text)
}

fn parse(args: &[OsString]) -> Result<Request, NewError> {
    let mut request = Request::default();
    let mut folders = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_str().ok_or_else(|| NewError::NotUtf8 { argument: arg.clone() })?;
        let Some(option) = text.strip_prefix("--") else {
            folders.push(text);
            continue;
        };
        let (option, inline) = option.split_once('=').map_or((option, None), |(option, value)| (option, Some(value)));
        let slot = match option {
            "group" => &mut request.group,
            "kind" => &mut request.kind,
            "path" => {
                request.checkout = Some(value(option, inline, &mut args)?.into());
                continue;
            }
            _ => return Err(NewError::UnknownOption { option: option.to_owned() }),
        };
        *slot = Some(value(option, inline, &mut args)?);
    }
    match folders.as_slice() {
        [folder] => Ok(Request { folder: folder.into(), ..request }),
        [] => Err(NewError::NoName),
        [_, other, ..] => Err(NewError::UnexpectedArgument { argument: (*other).to_owned() }),
    }
}

/// Returns the value of an option: the text after `=`, or the next argument.
fn value<'a>(
    option: &str,
    inline: Option<&str>,
    rest: &mut impl Iterator<Item = &'a OsString>,
) -> Result<String, NewError> {
    let next = || rest.next().and_then(|arg| arg.to_str()).map(str::to_owned);
    inline.map(str::to_owned).or_else(next).ok_or_else(|| NewError::NoValue { option: option.to_owned() })
}

/// Validates the arguments, then writes the crate. Returns instructions for the user.
fn create(request: &Request) -> Result<String, NewError> {
    let Request { folder, group, kind, checkout } = request;
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    names::check_crate(name)?;
    let group = group.clone().unwrap_or_else(|| format!("{}.example.com", names::label(name)));
    let kind = kind.as_deref().unwrap_or("Widget");
    let checkout = match checkout {
        Some(path) => Checkout::at(path)?,
        None => Checkout::find()?,
    };
    names::check_group(&group, &checkout)?;
    names::check_kind(kind)?;
    let folder = make_folder(folder)?;
    let scaffold = Scaffold { name, group: &group, kind, checkout: &checkout, folder: &folder };
    // The folder is new, so it contains only generated files.
    write(&scaffold).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
    let shown = request.folder.display();
    Ok(format!(
        "{shown}: a crate for an API server of the group {group}. Next:\n  cd {shown}\n  cargo test\n\
         Edit api-defs/{group}/, then read README.md."
    ))
}

/// Creates the folder of the crate, which must not exist, and returns its absolute path.
fn make_folder(folder: &Path) -> Result<PathBuf, NewError> {
    fs::create_dir(folder).map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => NewError::Exists { folder: folder.to_owned() },
        _ => NewError::MakeFolder { folder: folder.to_owned(), source },
    })?;
    folder.canonicalize().map_err(|source| NewError::FindFolder { folder: folder.to_owned(), source })
}

fn write(scaffold: &Scaffold) -> Result<(), NewError> {
    for (path, bytes) in scaffold.files()? {
        let path = scaffold.folder.join(path);
        let written = fs::create_dir_all(path.with_file_name("")).and_then(|()| fs::write(&path, bytes));
        written.map_err(|source| NewError::Write { path, source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
