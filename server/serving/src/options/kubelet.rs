//! Flags about kubelets, which show logs, run commands and forward ports (upstream: `KubeletClientConfig`).

use std::path::PathBuf;

use webhook::Trust;

use super::values::Values;

/// How kubelets are reached, and known.
#[derive(Clone, Debug)]
pub struct KubeletOptions {
    /// Who signs the certificates of kubelets; when absent, every one is believed.
    pub authority: Option<PathBuf>,
    /// Certificate and key to be known by.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The port of kubelets whose nodes do not tell it.
    pub port: u16,
    /// Types of node addresses, best first.
    pub preferred_address_types: Vec<String>,
}

impl KubeletOptions {
    /// How this server and kubelets make sure of each other.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn trust(&self) -> Result<Trust, String> {
        let read = |path: &PathBuf| std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()));
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

impl Values {
    pub(super) fn kubelet(&self) -> Result<KubeletOptions, String> {
        let certificate = match (self.path("kubelet-client-certificate"), self.path("kubelet-client-key")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("--kubelet-client-certificate and --kubelet-client-key must be given together".into()),
        };
        // Both are checked and, as upstream, of no further use.
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
