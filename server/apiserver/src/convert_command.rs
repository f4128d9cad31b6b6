//! `kube-apiserver convert`: converts an encoded object to another encoding or version.

use std::ffi::OsString;
use std::io::Read;

use machinery::catalog::Catalog;

use crate::convert::{self, ObjectEncoding};
use crate::error::CommandError;
use crate::standard_output;

const USAGE: &str = "usage: kube-apiserver convert [--to VERSION] [-o json|yaml|protobuf|cbor] [FILE]
Reads an object in JSON, YAML, protobuf or CBOR from FILE (standard input without one) and writes it in the requested form and version.
A value dumped from etcd is accepted.";

/// The arguments of the command.
struct Request {
    to: Option<String>,
    form: ObjectEncoding,
    file: Option<OsString>,
}

/// Runs the command.
///
/// # Errors
/// The arguments are invalid, or the object cannot be read, converted or written.
pub fn run(catalog: &'static Catalog, args: &[OsString]) -> Result<(), CommandError> {
    if args.iter().any(|a| a == "--help" || a == "-h") {
        return standard_output::print_line(USAGE);
    }
    let request = parse(args)?;
    let input = read(request.file.as_ref())?;
    let mut object = convert::decode(catalog, &input, None)?;
    if let Some(version) = &request.to {
        object = convert::to_version(catalog, object, version)?;
    }
    let mut output = convert::encode(&mut object, request.form)?;
    if request.form == ObjectEncoding::Json {
        output.push(b'\n');
    }
    standard_output::write(&output)
}

fn parse(args: &[OsString]) -> Result<Request, CommandError> {
    let mut request = Request { to: None, form: ObjectEncoding::Json, file: None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        let (name, inline) = match text.split_once('=') {
            Some((name, value)) if name.starts_with('-') => (name.to_string(), Some(value.to_string())),
            _ => (text.to_string(), None),
        };
        let mut value = || {
            inline
                .clone()
                .or_else(|| args.next().map(|v| v.to_string_lossy().into_owned()))
                .ok_or_else(|| CommandError::NoValue { flag: name.clone(), usage: USAGE })
        };
        match name.as_str() {
            "--to" => request.to = Some(value()?),
            "-o" | "--output" => request.form = form(&value()?)?,
            "-" => request.file = None,
            flag if flag.starts_with('-') => {
                return Err(CommandError::UnknownFlag { flag: flag.to_owned(), usage: USAGE });
            }
            _ => request.file = Some(arg.clone()),
        }
    }
    Ok(request)
}

fn form(text: &str) -> Result<ObjectEncoding, CommandError> {
    match text {
        "json" => Ok(ObjectEncoding::Json),
        "yaml" => Ok(ObjectEncoding::Yaml),
        "protobuf" => Ok(ObjectEncoding::Protobuf),
        "cbor" => Ok(ObjectEncoding::Cbor),
        other => Err(CommandError::UnknownForm { form: other.to_owned(), known: "json, yaml, protobuf and cbor" }),
    }
}

fn read(file: Option<&OsString>) -> Result<Vec<u8>, CommandError> {
    let mut input = Vec::new();
    let outcome = match file {
        Some(path) => std::fs::read(path).map(|bytes| input = bytes),
        None => std::io::stdin().read_to_end(&mut input).map(|_| ()),
    };
    let name = || file.map_or("standard input".into(), |file| file.to_string_lossy().into_owned());
    outcome.map_err(|source| CommandError::Read { input: name(), source })?;
    Ok(input)
}
