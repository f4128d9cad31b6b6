//! Errors of the configuration of admission plugins, which prevent the start of the server.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use machinery::field_error::{FieldError, aggregate};
use machinery::{json, scalar};
use options::DocumentError;

/// An error of a configuration file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file of the flag `--admission-control-config-file` cannot be read.
    #[error("unable to read admission control configuration from {:?} [{source}]", path.display().to_string())]
    AdmissionFile { path: PathBuf, source: io::Error },
    /// The file of the flag `--admission-control-config-file` is malformed.
    #[error(transparent)]
    Admission(#[from] DocumentError),
    /// The file of a plugin cannot be read.
    #[error("couldn't open admission plugin configuration {}: {source}", path.display())]
    PluginFile { path: PathBuf, source: io::Error },
    /// The configuration of a plugin is unusable.
    #[error("couldn't init admission plugin {plugin:?}: {source}")]
    Plugin { plugin: String, source: PluginError },
}

/// Why the configuration of an admission plugin is unusable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The document is malformed, or has another kind.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The document of a plugin without a kind is neither YAML nor JSON.
    #[error(transparent)]
    Yaml(#[from] json::Error),
    /// Fields are invalid.
    #[error("{}", aggregate(.0))]
    Fields(Vec<FieldError>),
    /// The plugin has a configuration, but this server does not support any.
    #[error("it takes no configuration: manifests of policies are not built")]
    Manifests,
    /// The plugin has no configuration, but requires one.
    #[error("no config specified")]
    Missing,
    /// A limit has an unknown type.
    #[error("{0}")]
    LimitType(String),
    /// The kubeconfig of a webhook is unusable.
    #[error(transparent)]
    Kubeconfig(#[from] webhook::Error),
    /// A duration is not a number.
    #[error("{value} is no number")]
    NotANumber { value: serde_json::Value },
    /// A duration is out of range.
    #[error("valid value is between {} and {}, got {number}", shown(*least), shown(*most))]
    Duration { least: Duration, most: Duration, number: i64 },
}

fn shown(time: Duration) -> scalar::Duration {
    scalar::Duration::from_nanos(time.as_nanos() as i64)
}
