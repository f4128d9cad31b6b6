//! Flags of the kubelet client for logs, commands, and port forwarding (upstream:
//! `KubeletClientConfig`).

use std::path::PathBuf;

use webhook::Trust;

use crate::error::{FileError, FlagError};
use crate::values::FlagValues;

/// Options of the kubelet client.
#[derive(Clone, Debug)]
pub struct KubeletOptions {
    /// The CA of kubelet certificates; `None` disables verification.
    pub authority: Option<PathBuf>,
    /// Client certificate and key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The port of kubelets for nodes that do not report one.
    pub port: u16,
    /// Types of node addresses in order of preference.
    pub preferred_address_types: Vec<String>,
}

impl KubeletOptions {
    /// The TLS configuration of the kubelet client.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn trust(&self) -> Result<Trust, FileError> {
        let read = |path: &PathBuf| std::fs::read(path).map_err(FileError::of(path));
        let identity = match &self.certificate {
            Some((certificate, key)) => Some((read(certificate)?, read(key)?)),
            None => None,
        };
        let authorities = self.authority.as_ref().map(read).transpose()?;
        Ok(Trust {
            insecure: authorities.is_none(),
            authorities: authorities.unwrap_or_default(),
            identity,
            ..Trust::default()
        })
    }
}

impl FlagValues {
    pub(super) fn kubelet(&self) -> Result<KubeletOptions, FlagError> {
        let certificate = match (self.path("kubelet-client-certificate"), self.path("kubelet-client-key")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(FlagError::Together { first: "kubelet-client-certificate", second: "kubelet-client-key" });
            }
        };
        // As upstream, both are validated but otherwise unused.
        self.duration("kubelet-timeout")?;
        self.number::<u16>("kubelet-read-only-port")?;
        let options = KubeletOptions {
            authority: self.path("kubelet-certificate-authority"),
            certificate,
            port: self.number("kubelet-port")?,
            preferred_address_types: self
                .list("kubelet-preferred-address-types")
                .into_iter()
                .map(str::to_owned)
                .collect(),
        };
        options.trust()?;
        Ok(options)
    }
}
