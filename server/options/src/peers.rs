//! Flags of the peer proxy (upstream: `validateUnknownVersionInteroperabilityProxyFlags`).

use machinery::features;
use std::path::PathBuf;

use crate::error::FlagError;
use crate::error_list::ErrorList;
use crate::values::FlagValues;

/// The feature gate of these flags.
const GATE: &str = features::UnknownVersionInteroperabilityProxy;

/// Options of the peer proxy, which forwards requests for unknown versions to other API servers of
/// the cluster.
#[derive(Clone, Debug, Default)]
pub struct PeerOptions {
    /// Whether this server publishes its address to its peers.
    pub enabled: bool,
    /// The address for peers, if it differs from that for clients.
    pub advertised: Option<(String, u16)>,
    /// The CA of the peers' certificates; `None` disables the proxy.
    pub ca_file: Option<PathBuf>,
}

impl FlagValues {
    pub(super) fn peers(&self, errors: &mut ErrorList) -> PeerOptions {
        let enabled = self.has_gate(GATE);
        for flag in ["peer-ca-file", "peer-advertise-ip", "peer-advertise-port"] {
            if !enabled && !self.text(flag).is_empty() {
                errors.push(FlagError::Disabled { flag, gate: GATE });
            }
        }
        let ca_file = self.path("peer-ca-file").filter(|_| enabled);
        if ca_file.is_some() && self.path("proxy-client-cert-file").is_none() {
            errors.push(FlagError::NoProxyCertificate);
        }
        PeerOptions { enabled, advertised: errors.checked(self.advertised()).flatten(), ca_file }
    }

    /// As upstream, an incomplete address is ignored.
    fn advertised(&self) -> Result<Option<(String, u16)>, FlagError> {
        match (self.text("peer-advertise-ip"), self.text("peer-advertise-port")) {
            ("", _) | (_, "") => Ok(None),
            (ip, _) => Ok(Some((ip.to_owned(), self.number("peer-advertise-port")?))),
        }
    }
}
