//! Errors of configurations and of the health of KMS plugins. The texts are upstream's.

use std::io;
use std::path::PathBuf;

use machinery::field_error::{FieldError, aggregate};
use machinery::json;

use crate::failure::TransformFailure;

/// A configuration that cannot be loaded, or plugins that are unhealthy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("error reading encryption provider configuration file {path:?}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("encryption provider configuration file {path:?} is empty")]
    Empty { path: PathBuf },
    /// The file is not YAML.
    #[error(transparent)]
    Yaml(#[from] json::Error),
    /// The document has duplicate fields; the text lists them.
    #[error("{0}")]
    Strict(String),
    /// The document has an unknown field, or a field has a value of another type.
    #[error("strict decoding error: {0}")]
    Fields(#[source] serde_json::Error),
    #[error("Object 'Kind' is missing")]
    NoKind,
    #[error("Object 'apiVersion' is missing")]
    NoVersion,
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    UnknownKind { api_version: String, kind: String },
    /// Fields are invalid.
    #[error("{}", aggregate(.0))]
    Invalid(Vec<FieldError>),

    /// A key is not base64.
    #[error("could not obtain secret for named key {name}: {source}")]
    Secret { name: String, source: base64::DecodeError },
    /// A key is unusable.
    #[error("error while creating transformer for named key {name}: {source}")]
    Key { name: String, source: TransformFailure },
    #[error("KMSv1 is deprecated and not built into this server. Use KMSv2 instead: apiVersion: v2")]
    FirstKmsVersion,
    /// The endpoint of a plugin is malformed.
    #[error(
        "could not configure KMSv2-Plugin's probe {name:?}, error: failed to create connection to {endpoint}, error: {source}"
    )]
    Plugin { name: String, endpoint: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("resource {resource:?} is masked by earlier rule {rule:?}")]
    Masked { resource: String, rule: String },

    /// The file cannot be loaded at the start or after a change.
    #[error("error while parsing file: error while loading file: {0}")]
    Load(#[source] Box<Error>),
    /// The content of the file is invalid.
    #[error("error while parsing file: {}: {source}", path.display())]
    Parse { path: PathBuf, source: Box<Error> },
    /// The providers of the configuration are unusable.
    #[error("error while building transformers: {0}")]
    Build(#[source] Box<Error>),

    /// Plugins are unhealthy; the numbers are their positions in the configuration.
    #[error("{}", unhealthy(.0))]
    Unhealthy(Vec<(usize, HealthError)>),
    /// The plugins of a changed configuration do not become healthy.
    #[error("health check for new transformers failed: {0}")]
    NewUnhealthy(#[source] Box<Error>),
}

fn unhealthy(plugins: &[(usize, HealthError)]) -> String {
    let texts: Vec<String> = plugins.iter().map(|(i, why)| format!("kms-provider-{i}: {why}")).collect();
    match texts.as_slice() {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// The reason why a KMS plugin is unhealthy.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HealthError {
    #[error("the plugin has not been checked yet")]
    Unchecked,
    /// The plugin does not report its status.
    #[error("failed to perform status section of the healthz check for KMS Provider {name}, error: {source}")]
    NoStatus { name: String, source: TransformFailure },
    /// The plugin reports an error, or cannot encrypt.
    #[error("kmsv2 Provider {name} is not healthy, error: {source}")]
    Unhealthy { name: String, source: TransformFailure },
}
