//! `kube-apiserver snapshot`: saves the objects of a store to a file, also while the server runs,
//! and restores them to an empty store.

use std::ffi::OsString;
use std::path::Path;

use machinery::scalar::Time;
use options::Options;
use storage::snapshot::{self, Summary};
use storage::{EmbeddedStore, EtcdStore};

use crate::backends::etcd_options;
use crate::error::CommandError;
use crate::{Error, standard_output};

const USAGE: &str = "usage: kube-apiserver snapshot save|restore|status FILE [-o text|json] [FLAGS]
save     writes all objects of the store to FILE; the server may be running
restore  writes all objects of FILE to an empty store; with the embedded store no server may be running
status   prints a summary of FILE, after checking all of it
FLAGS select the store, as for the server: --data-dir, or --etcd-servers, --etcd-cafile, --etcd-certfile, --etcd-keyfile, --etcd-prefix";

/// The arguments of the command.
struct Request {
    verb: String,
    file: OsString,
    json: bool,
    /// The program's name and the flags.
    flags: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
/// The arguments are invalid, or the store or the file cannot be read or written.
pub fn run(args: &[OsString]) -> Result<(), Error> {
    if args.iter().any(|a| a == "--help" || a == "-h") {
        return Ok(standard_output::print_line(USAGE)?);
    }
    let Request { verb, file, json, flags } = parse(args)?;
    let options = Options::parse_from(flags).map_err(CommandError::from)?;
    let file = Path::new(&file);
    let summary = match verb.as_str() {
        "save" => save(&options, file),
        "restore" => restore(&options, file),
        "status" => snapshot::status(file),
        _ => return Err(CommandError::UnknownVerb { verb, usage: USAGE }.into()),
    };
    Ok(standard_output::print_line(text(&summary.map_err(CommandError::from)?, json))?)
}

fn parse(args: &[OsString]) -> Result<Request, Error> {
    let mut words = Vec::new();
    let mut json = false;
    let mut flags = vec![OsString::from("kube-apiserver")];
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.to_str().unwrap_or_default() {
            "-o" => json = is_json(args.next().and_then(|form| form.to_str()).unwrap_or_default())?,
            text if text.starts_with("-o=") => json = is_json(&text[3..])?,
            text if text.starts_with("--") => {
                flags.push(arg.clone());
                // Every flag that selects a store has a value.
                if !text.contains('=') {
                    flags.extend(args.next().cloned());
                }
            }
            _ => words.push(arg.clone()),
        }
    }
    match <[OsString; 2]>::try_from(words) {
        Ok([verb, file]) => Ok(Request { verb: verb.to_string_lossy().into_owned(), file, json, flags }),
        Err(_) => Err(Error::Usage(USAGE)),
    }
}

fn is_json(form: &str) -> Result<bool, CommandError> {
    match form {
        "json" => Ok(true),
        "text" => Ok(false),
        other => Err(CommandError::UnknownForm { form: other.to_owned(), known: "text and json" }),
    }
}

fn save(options: &Options, file: &Path) -> storage::Result<Summary> {
    match options.storage.etcd.servers.is_empty() {
        true => EmbeddedStore::save(options.data_dir.join("store"), file),
        false => with_etcd(options, async |store| store.save(&options.storage.prefix, file).await),
    }
}

fn restore(options: &Options, file: &Path) -> storage::Result<Summary> {
    match options.storage.etcd.servers.is_empty() {
        true => EmbeddedStore::restore(options.data_dir.join("store"), file),
        false => with_etcd(options, async |store| store.restore(&options.storage.prefix, file).await),
    }
}

fn with_etcd(
    options: &Options,
    work: impl AsyncFnOnce(EtcdStore) -> storage::Result<Summary>,
) -> storage::Result<Summary> {
    let runtime = tokio::runtime::Runtime::new().map_err(storage::Error::backend)?;
    let mut etcd = etcd_options(options, &options.storage.etcd.servers);
    etcd.compaction_interval = None;
    runtime.block_on(async { work(EtcdStore::connect(etcd).await?).await })
}

fn text(summary: &Summary, json: bool) -> String {
    let Summary { revision, created_at, keys, bytes, checksum } = summary;
    let checksum: String = checksum.iter().map(|byte| format!("{byte:02x}")).collect();
    let created = Time::from_unix(i64::try_from(created_at / 1000).unwrap_or(i64::MAX)).to_string();
    if json {
        let line = serde_json::json!({
            "revision": revision, "keys": keys, "bytes": bytes, "created": created, "sha256": checksum,
        });
        return line.to_string();
    }
    format!("revision  {revision}\nkeys      {keys}\nbytes     {bytes}\ncreated   {created}\nsha256    {checksum}")
}
