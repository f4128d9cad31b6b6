//! Flags of aggregated API servers.

use std::path::PathBuf;

use webhook::ClientIdentity;

use crate::error::{Error, FlagError};
use crate::values::FlagValues;

/// Options of proxying to aggregated API servers.
#[derive(Clone, Debug)]
pub struct AggregationOptions {
    /// Client certificate and key of the proxy.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Whether services are reached at the addresses of their endpoints.
    pub to_endpoints: bool,
    pub reject_redirects: bool,
}

impl AggregationOptions {
    /// Reads client certificate and key, in PEM.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn identity(&self) -> Result<Option<ClientIdentity>, Error> {
        let Some((certificate, key)) = &self.certificate else { return Ok(None) };
        let read = |path: &PathBuf| std::fs::read(path).map_err(Error::file(path));
        Ok(Some((read(certificate)?, read(key)?)))
    }
}

impl FlagValues {
    pub(super) fn aggregation(&self) -> Result<AggregationOptions, FlagError> {
        let certificate = match (self.path("proxy-client-cert-file"), self.path("proxy-client-key-file")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(FlagError::Together { first: "proxy-client-cert-file", second: "proxy-client-key-file" });
            }
        };
        Ok(AggregationOptions {
            certificate,
            to_endpoints: self.bool("enable-aggregator-routing")?,
            reject_redirects: self.bool("aggregator-reject-forwarding-redirect")?,
        })
    }
}
