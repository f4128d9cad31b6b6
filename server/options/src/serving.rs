//! Flags of listening and TLS (upstream: `SecureServingOptions`).

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustls::{CipherSuite, NamedGroup};

use crate::connections::ConnectionOptions;
use crate::error::FlagError;
use crate::identity;
use crate::tls::SniCertificate;
use crate::values::FlagValues;

/// Upstream's `http2` default.
const HTTP2_MAX_STREAMS: u32 = 250;

/// Options of listening and TLS.
#[derive(Clone, Debug)]
pub struct ServingOptions {
    /// The name of this host, which identifies the server in the cluster.
    pub hostname: String,
    pub bind_address: IpAddr,
    pub secure_port: u16,
    pub advertise_address: Option<IpAddr>,
    pub external_hostname: String,
    /// The directory of generated certificates.
    pub cert_dir: PathBuf,
    /// Serving certificate and key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Certificates for other SNI names.
    pub sni: Vec<SniCertificate>,
    /// Whether TLS 1.2 is rejected.
    pub tls13_only: bool,
    /// The cipher suites of TLS 1.2; empty means all supported ones.
    pub cipher_suites: Vec<CipherSuite>,
    /// The key exchange groups in order of preference; empty means all supported ones.
    pub key_exchange_groups: Vec<NamedGroup>,
    /// Whether other servers may listen on the port too (`SO_REUSEPORT`).
    pub shares_port: bool,
    pub http2: bool,
    pub http2_max_streams: u32,
    pub connections: ConnectionOptions,
    /// How long requests are still served after the signal to stop.
    pub shutdown_delay: Duration,
    /// Whether requests after the delay get a 429 response until those in flight are complete.
    pub shutdown_send_retry_after: bool,
    /// The period after the delay over which the ends of watches are spread.
    pub shutdown_watch_grace: Duration,
    /// How long after the start `/livez` ignores unfinished start-up work.
    pub livez_grace: Duration,
}

impl FlagValues {
    pub(super) fn serving(&self, data_dir: &Path) -> Result<ServingOptions, FlagError> {
        let tls = match (self.path("tls-cert-file"), self.path("tls-private-key-file")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(FlagError::Together { first: "tls-cert-file", second: "tls-private-key-file" }),
        };
        let advertise_address = match self.text("advertise-address") {
            "" => None,
            text => Some(self.parsed::<IpAddr>("advertise-address", text)?),
        };
        let hostname = Some(self.text("hostname-override")).filter(|name| !name.is_empty());
        Ok(ServingOptions {
            hostname: hostname.map_or_else(identity::hostname, str::to_owned),
            bind_address: self.parsed("bind-address", self.text("bind-address"))?,
            secure_port: self.number("secure-port")?,
            advertise_address,
            external_hostname: self.text("external-hostname").to_owned(),
            cert_dir: self.path("cert-dir").unwrap_or_else(|| data_dir.join("pki")),
            tls,
            sni: self.sni_certificates()?,
            tls13_only: self.tls13_only()?,
            cipher_suites: self.cipher_suites()?,
            key_exchange_groups: self.key_exchange_groups()?,
            shares_port: self.bool("permit-port-sharing")?,
            http2: !self.bool("disable-http2-serving")?,
            http2_max_streams: Some(self.number("http2-max-streams-per-connection")?)
                .filter(|n| *n > 0)
                .unwrap_or(HTTP2_MAX_STREAMS),
            connections: self.connections()?,
            shutdown_delay: self.duration("shutdown-delay-duration")?,
            shutdown_send_retry_after: self.bool("shutdown-send-retry-after")?,
            shutdown_watch_grace: self.duration("shutdown-watch-termination-grace-period")?,
            livez_grace: self.duration("livez-grace-period")?,
        })
    }
}
