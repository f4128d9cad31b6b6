//! `kube-apiserver kubeconfig` and `kube-apiserver probe`: use the administrator's kubeconfig in the
//! data directory. An image without a shell needs them: the first hands out access, the second is a
//! health check.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use machinery::features::KnownGates;
use options::{Options, ServerProgram};
use webhook::Kubeconfig;

use crate::error::CommandError;
use crate::{Error, standard_output};

const KUBECONFIG_USAGE: &str = "usage: kube-apiserver kubeconfig [--server URL] [FLAGS]
Prints the administrator's kubeconfig, which the server writes to its data directory.
--server URL  the URL of the server in the output [default: the address that the server listens on]
FLAGS         those of the server; --data-dir selects the data directory";

const PROBE_USAGE: &str = "usage: kube-apiserver probe [--path PATH] [FLAGS]
Sends GET PATH to the running server as its administrator. Ends with status 0 if the server answers with success.
--path PATH  the path [default: /readyz]
FLAGS        those of the server; --data-dir selects the data directory";

/// Maximum time until the answer to a probe.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Maximum length of that answer.
const MAX_ANSWER: usize = 1 << 20;

/// Prints the administrator's kubeconfig.
///
/// # Errors
/// The arguments are invalid, or there is no kubeconfig.
pub fn kubeconfig(program: ServerProgram, gates: &KnownGates, args: &[OsString]) -> Result<(), Error> {
    if wants_help(args) {
        return Ok(standard_output::print_line(KUBECONFIG_USAGE)?);
    }
    let (url, flags) = split(args, "--server", KUBECONFIG_USAGE)?;
    let path = file(program, gates, flags)?;
    let text = read(&path)?;
    let text = match url {
        Some(url) => with_server(&text, &url).ok_or(CommandError::NoServer { path })?,
        None => text,
    };
    Ok(standard_output::write(text.as_bytes())?)
}

/// Sends a request to the running server, and fails unless it succeeds.
///
/// # Errors
/// The arguments are invalid, there is no kubeconfig, or the server does not answer with success.
pub fn probe(program: ServerProgram, gates: &KnownGates, args: &[OsString]) -> Result<(), Error> {
    if wants_help(args) {
        return Ok(standard_output::print_line(PROBE_USAGE)?);
    }
    let (path, flags) = split(args, "--path", PROBE_USAGE)?;
    let path = path.unwrap_or_else(|| "/readyz".into());
    let file = file(program, gates, flags)?;
    read(&file)?;
    let body = get(&file, &path)?;
    Ok(standard_output::print_line(body)?)
}

fn wants_help(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "--help" || arg == "-h")
}

/// Splits the value of one flag from the flags of the server.
fn split(args: &[OsString], name: &str, usage: &'static str) -> Result<(Option<String>, Vec<OsString>), CommandError> {
    let (mut value, mut rest) = (None, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        if text == name {
            let next = args.next().ok_or(CommandError::NoValue { flag: name.to_owned(), usage })?;
            value = Some(next.to_string_lossy().into_owned());
        } else if let Some(inline) = text.strip_prefix(name).and_then(|text| text.strip_prefix('=')) {
            value = Some(inline.to_owned());
        } else {
            rest.push(arg.clone());
        }
    }
    Ok((value, rest))
}

/// Returns the path of the administrator's kubeconfig of a server with these flags.
fn file(program: ServerProgram, gates: &KnownGates, flags: Vec<OsString>) -> Result<PathBuf, CommandError> {
    let flags = std::iter::once(OsString::from(program.name())).chain(flags);
    Ok(Options::parse_for(program, gates, flags)?.data_dir.join("admin.kubeconfig"))
}

fn read(path: &Path) -> Result<String, CommandError> {
    fs::read_to_string(path).map_err(|source| CommandError::NoKubeconfig { path: path.to_owned(), source })
}

/// Replaces the URL of the only server.
fn with_server(kubeconfig: &str, url: &str) -> Option<String> {
    let line = kubeconfig.lines().find(|line| line.trim_start().starts_with("server: "))?;
    let indentation = &line[..line.len() - line.trim_start().len()];
    // A string in JSON is one in YAML.
    Some(kubeconfig.replacen(line, &format!("{indentation}server: {}", serde_json::Value::from(url)), 1))
}

fn get(kubeconfig: &Path, path: &str) -> Result<String, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CommandError::Runtime)?;
    let server = Kubeconfig::load(kubeconfig)?;
    let (client, uri) = (server.client()?, server.at(path)?);
    let reply = runtime.block_on(client.get(&uri, TIMEOUT, MAX_ANSWER))?;
    let body = String::from_utf8_lossy(&reply.body).into_owned();
    match reply.status.is_success() {
        true => Ok(body),
        false => Err(CommandError::ProbeFailed { path: path.to_owned(), status: reply.status, body }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flag_is_split_from_those_of_the_server() {
        let split = |args: &[&str]| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            split(&args, "--path", PROBE_USAGE).map_err(|why| why.to_string())
        };
        let rest = || vec![OsString::from("--data-dir=d")];
        assert_eq!(split(&["--data-dir=d"]), Ok((None, rest())));
        assert_eq!(split(&["--path", "/livez", "--data-dir=d"]), Ok((Some("/livez".into()), rest())));
        assert_eq!(split(&["--data-dir=d", "--path=/livez"]), Ok((Some("/livez".into()), rest())));
        assert!(split(&["--path"]).unwrap_err().starts_with("--path needs a value\nusage: "));
    }

    #[test]
    fn url_of_the_server_is_replaced() {
        let text = "clusters:\n- cluster:\n    server: https://127.0.0.1:6443\n  name: a\n";
        let changed = with_server(text, "https://api.example.com").unwrap();
        assert_eq!(changed, "clusters:\n- cluster:\n    server: \"https://api.example.com\"\n  name: a\n");
        assert_eq!(with_server("clusters: []\n", "https://api.example.com"), None);
    }
}
