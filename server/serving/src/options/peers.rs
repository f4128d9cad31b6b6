//! Flags about other servers of the same cluster (upstream: `validateUnknownVersionInteroperabilityProxyFlags`).

use machinery::features;
use std::path::PathBuf;

use super::error_list::ErrorList;
use super::values::Values;

/// The feature that all of it belongs to.
const GATE: &str = features::UnknownVersionInteroperabilityProxy;

/// Servers that pass requests on to each other, when one serves what another does not.
#[derive(Clone, Debug, Default)]
pub struct PeerOptions {
    /// Whether other servers are told where this one is.
    pub enabled: bool,
    /// Where others reach this server, if not where everybody does.
    pub advertised: Option<(String, u16)>,
    /// Who signs the certificates of others; none: nothing is passed on to them.
    pub ca_file: Option<PathBuf>,
}

impl Values {
    pub(super) fn peers(&self, mistakes: &mut ErrorList) -> PeerOptions {
        let enabled = self.has_gate(GATE);
        for flag in ["peer-ca-file", "peer-advertise-ip", "peer-advertise-port"] {
            if !enabled && !self.text(flag).is_empty() {
                mistakes.note(format!("--{flag} requires {GATE} feature to be turned on"));
            }
        }
        let ca_file = self.path("peer-ca-file").filter(|_| enabled);
        if ca_file.is_some() && self.path("proxy-client-cert-file").is_none() {
            mistakes.note("error building peer proxy handler, proxy-cert-file not specified".into());
        }
        PeerOptions { enabled, advertised: mistakes.checked(self.advertised()).flatten(), ca_file }
    }

    /// As upstream, half an address is none.
    fn advertised(&self) -> Result<Option<(String, u16)>, String> {
        match (self.text("peer-advertise-ip"), self.text("peer-advertise-port")) {
            ("", _) | (_, "") => Ok(None),
            (ip, _) => Ok(Some((ip.to_owned(), self.number("peer-advertise-port")?))),
        }
    }
}
