//! The file of `--encryption-provider-config`: an EncryptionConfiguration of `apiserver.config.k8s.io/v1`.

mod validation;

use std::path::Path;

use machinery::json::{Issues, strict_error};
use machinery::scalar::Duration;
use machinery::yaml;
use serde::Deserialize;

use crate::error::Error;
use crate::metrics::hash_of_bytes;

/// The providers that encrypt each resource. The type does not implement `Debug`, because it contains keys.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EncryptionConfiguration {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    pub resources: Vec<ResourceConfiguration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceConfiguration {
    /// `secrets`, `pandas.example.com`, `*.apps`, `*.` (the core group), `*.*`.
    #[serde(default)]
    pub resources: Vec<String>,
    /// The first provider writes, all of them read.
    #[serde(default)]
    pub providers: Vec<ProviderConfiguration>,
}

/// A provider; a valid configuration sets exactly one field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProviderConfiguration {
    pub aesgcm: Option<EncryptionKeys>,
    pub aescbc: Option<EncryptionKeys>,
    pub secretbox: Option<EncryptionKeys>,
    pub identity: Option<Nothing>,
    pub kms: Option<KmsConfiguration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EncryptionKeys {
    #[serde(default)]
    pub keys: Vec<EncryptionKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EncryptionKey {
    #[serde(default)]
    pub name: String,
    /// The key in base64.
    #[serde(default)]
    pub secret: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KmsConfiguration {
    /// `v2`; `v1` by default.
    #[serde(rename = "apiVersion", default = "first_version")]
    pub api_version: String,
    #[serde(default)]
    pub name: String,
    /// For `v1` only.
    #[serde(rename = "cachesize")]
    pub cache_size: Option<i32>,
    /// `unix:///run/kms.sock`
    #[serde(default)]
    pub endpoint: String,
    /// Timeout of a call.
    #[serde(default = "three_seconds")]
    pub timeout: Duration,
}

fn first_version() -> String {
    "v1".into()
}

fn three_seconds() -> Duration {
    Duration::from_secs(3)
}

/// Reads a configuration file; returns its bytes and their hash, which detects changes.
pub(crate) fn read(file: &Path) -> Result<(Vec<u8>, String), Error> {
    let text = std::fs::read(file).map_err(|source| Error::Read { path: file.to_owned(), source })?;
    if text.is_empty() {
        return Err(Error::Empty { path: file.to_owned() });
    }
    let hash = hash_of_bytes(&text);
    Ok((text, hash))
}

impl EncryptionConfiguration {
    /// Decodes a configuration strictly and validates it. `reload`: whether it may be replaced while
    /// the server runs.
    pub fn parse(text: &[u8], reload: bool) -> Result<Self, Error> {
        let mut issues = Issues::collect();
        let tree = yaml::to_value(text, &mut issues)?;
        if let Some(why) = strict_error(&issues) {
            return Err(Error::Strict(why));
        }
        let config: Self = serde_json::from_value(tree).map_err(Error::Fields)?;
        config.check_kind()?;
        match config.validate(reload) {
            errors if errors.is_empty() => Ok(config),
            errors => Err(Error::Invalid(errors)),
        }
    }

    fn check_kind(&self) -> Result<(), Error> {
        match (self.api_version.as_str(), self.kind.as_str()) {
            // The second pair was once documented.
            ("apiserver.config.k8s.io/v1", "EncryptionConfiguration") | ("v1", "EncryptionConfig") => Ok(()),
            (_, "") => Err(Error::NoKind),
            ("", _) => Err(Error::NoVersion),
            (api_version, kind) => {
                Err(Error::UnknownKind { api_version: api_version.to_owned(), kind: kind.to_owned() })
            }
        }
    }
}

#[cfg(test)]
mod tests;
