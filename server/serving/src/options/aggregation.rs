//! Flags about servers that requests are passed on to.

use std::path::PathBuf;

use webhook::Identity;

use super::values::Values;

/// Passing requests on.
#[derive(Clone, Debug)]
pub struct AggregationOptions {
    /// Certificate and key to be known by.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Whether services are reached at the addresses of their endpoints.
    pub to_endpoints: bool,
    pub reject_redirects: bool,
}

impl AggregationOptions {
    /// Certificate and key to be known by, in PEM.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn identity(&self) -> Result<Option<Identity>, String> {
        let Some((certificate, key)) = &self.certificate else { return Ok(None) };
        let read = |path: &PathBuf| std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()));
        Ok(Some((read(certificate)?, read(key)?)))
    }
}

impl Values {
    pub(super) fn aggregation(&self) -> Result<AggregationOptions, String> {
        let certificate = match (self.path("proxy-client-cert-file"), self.path("proxy-client-key-file")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("--proxy-client-cert-file and --proxy-client-key-file must be given together".into()),
        };
        Ok(AggregationOptions {
            certificate,
            to_endpoints: self.bool("enable-aggregator-routing")?,
            reject_redirects: self.bool("aggregator-reject-forwarding-redirect")?,
        })
    }
}
