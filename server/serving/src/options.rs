//! The command line options, with upstream's flag names and meanings (upstream:
//! `cmd/kube-apiserver/app/options`).
//!
//! [`flags::FLAGS`] lists all flags. This module converts their values to typed [`Options`] and
//! reports all errors.

mod admission;
mod aggregation;
mod audit;
mod authorization;
mod command;
mod connections;
mod deprecated;
mod documents;
mod egress;
mod error_list;
mod fixed;
mod flags;
mod kubelet;
mod logs;
mod metrics;
mod network;
mod oidc;
mod peers;
mod plugins;
mod program;
mod storage;
mod tls;
mod values;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use admission::AdmissionOptions;
pub use aggregation::AggregationOptions;
pub use audit::{
    AuditBatch, AuditDelivery, AuditFormat, AuditLimits, AuditLogOptions, AuditMode, AuditOptions, AuditRotation,
    AuditWebhookOptions,
};
pub use authorization::{AccessWebhookOptions, AuthorizationMode, AuthorizationOptions};
pub use connections::ConnectionOptions;
pub use documents::document;
pub use egress::EgressOptions;
use error_list::ErrorList;
pub use kubelet::KubeletOptions;
pub use logs::{LogFormat, LogOptions};
pub use metrics::MetricsOptions;
pub use network::{Cidr, PortRange};
pub use oidc::IssuerOptions;
pub use peers::PeerOptions;
pub use plugins::PLUGINS;
pub use program::Program;
use rustls::{CipherSuite, NamedGroup};
pub use storage::{EncryptionOptions, EtcdOptions, EtcdOverride, StorageOptions};
pub use tls::SniCertificate;
use values::Values;
use webhook::Route;

use crate::Error;
use crate::authentication::RequestHeaders;
use machinery::features::{FeatureGates, KnownGates};

/// The section of the help with a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    ThisServer,
    Generic,
    Storage,
    SecureServing,
    Auditing,
    Features,
    Authentication,
    Authorization,
    ApiEnablement,
    EgressSelector,
    Admission,
    Metrics,
    Logs,
    Traces,
    Misc,
}

/// The values that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `--flag`, `--flag=true`, `--flag=false`.
    Bool,
    /// One value; the last one given applies.
    One,
    /// Values separated by commas; repeated flags add values.
    List,
    /// One value each time the flag is given.
    Repeated,
}

/// A flag.
#[derive(Debug)]
struct Flag {
    section: Section,
    name: &'static str,
    kind: Kind,
    default: &'static str,
    value: &'static str,
    help: &'static str,
}

/// The options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    pub program: Program,
    /// The directory of objects, certificates, and keys.
    pub data_dir: PathBuf,
    pub serving: ServingOptions,
    pub authentication: AuthenticationOptions,
    pub authorization: AuthorizationOptions,
    pub requests: RequestOptions,
    pub storage: StorageOptions,
    pub services: ServiceOptions,
    pub admission: AdmissionOptions,
    pub aggregation: AggregationOptions,
    pub peers: PeerOptions,
    pub kubelet: KubeletOptions,
    pub egress: EgressOptions,
    /// A TracingConfiguration file.
    pub tracing_config_file: Option<PathBuf>,
    pub audit: AuditOptions,
    /// `batch/v1=false` as (`batch/v1`, `false`).
    pub runtime_config: Vec<(String, bool)>,
    pub features: Arc<FeatureGates>,
    pub profiling: bool,
    /// The Unix socket of the debug endpoints; the file permissions control access.
    pub debug_socket: Option<PathBuf>,
    /// Whether `/logs` serves the files below `/var/log`.
    pub serves_logs: bool,
    pub allow_privileged: bool,
    pub event_ttl: Duration,
    pub metrics: MetricsOptions,
    pub logs: LogOptions,
    /// Warnings about deprecated flags that are given.
    pub deprecated: Vec<String>,
    /// All flags with their values, by name (`/flagz`).
    pub flags: Vec<(String, String)>,
}

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

/// Options of authentication.
#[derive(Clone, Debug)]
pub struct AuthenticationOptions {
    pub anonymous: bool,
    /// Whether the command line sets it.
    pub anonymous_is_given: bool,
    pub client_ca_file: Option<PathBuf>,
    pub token_auth_file: Option<PathBuf>,
    /// Issuers of service account tokens; the first one issues.
    pub service_account_issuers: Vec<String>,
    pub service_account_key_files: Vec<PathBuf>,
    pub service_account_signing_key_file: Option<PathBuf>,
    /// The Unix socket of an external signer: a path, or `@` and a name.
    pub service_account_signing_endpoint: Option<String>,
    /// The URL of the keys of service account tokens; `None` means this server.
    pub service_account_jwks_uri: Option<String>,
    /// Audiences of this server; defaults to the first issuer.
    pub api_audiences: Vec<String>,
    /// Whether tokens of Secrets are compared with the Secrets.
    pub service_account_lookup: bool,
    /// Whether tokens requested by admission get an extended lifetime, until clients renew them.
    pub service_account_extend_expiration: bool,
    /// The maximum lifetime of a token; `None` means no limit.
    pub service_account_max_expiration: Option<Duration>,
    /// Whether Secrets of type `bootstrap.kubernetes.io/token` are tokens.
    pub bootstrap_tokens: bool,
    /// The CAs of front proxies, and the headers that they set.
    pub request_headers: Option<(PathBuf, RequestHeaders)>,
    /// OpenID Connect issuers.
    pub issuers: IssuerOptions,
    pub webhook: Option<TokenWebhookOptions>,
    /// Look-up of client CAs in another API server.
    pub delegation: Option<DelegationOptions>,
}

/// Options of delegated authentication (upstream: `DelegatingAuthenticationOptions`).
#[derive(Clone, Debug)]
pub struct DelegationOptions {
    pub server: ReviewServer,
    /// Uses only the CAs of the flags.
    pub skips_lookup: bool,
    pub tolerates_failure: bool,
}

/// The server that handles reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewServer {
    /// A webhook, at the address of a kubeconfig.
    Webhook(PathBuf),
    /// An API server: that of a kubeconfig, or of the cluster that this program runs in.
    ApiServer(Option<PathBuf>),
}

/// Options of the token review webhook.
#[derive(Clone, Debug)]
pub struct TokenWebhookOptions {
    pub server: ReviewServer,
    /// `v1` or `v1beta1`.
    pub version: String,
    /// How long results are cached.
    pub cache_ttl: Duration,
    pub route: Route,
}

/// Options of request handling before the resource handlers.
#[derive(Clone, Debug)]
pub struct RequestOptions {
    pub request_timeout: Duration,
    pub min_request_timeout: Duration,
    /// The maximum number of concurrent reads; 0 means no limit.
    pub max_in_flight: usize,
    /// The maximum number of concurrent writes; 0 means no limit.
    pub max_mutating_in_flight: usize,
    /// The memory of all requests in bytes; 0 means a share of the available memory.
    pub max_memory: u64,
    /// Whether the limits are divided by priority, and requests above them wait.
    pub priority_and_fairness: bool,
    pub cors_allowed_origins: Vec<String>,
    pub hsts_directives: Vec<String>,
    pub goaway_chance: f64,
    /// Bytes per second, in each direction, of connections to pods; `None` means no limit.
    pub connection_bytes_per_second: Option<u64>,
}

/// Options of service addresses and ports.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// One range, or one of each address family.
    pub cluster_ip_ranges: Vec<Cidr>,
    pub node_port_range: PortRange,
    /// The node port of the `kubernetes` service, if any.
    pub kubernetes_node_port: Option<u16>,
    /// Whether this server maintains its address in the endpoints of that service.
    pub reconciles_endpoints: bool,
}

/// Splits a command line (without the program's name) at a leading word that is not a flag.
///
/// `convert --from x` is `convert` and the rest.
pub fn subcommand(args: &[OsString]) -> Option<(&str, &[OsString])> {
    let (first, rest) = args.split_first()?;
    let word = first.to_str()?;
    (!word.is_empty() && !word.starts_with('-')).then_some((word, rest))
}

impl Options {
    /// Parses a command line that starts with the program's name.
    pub fn parse_from(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, Error> {
        Self::parse_for(Program::KubeApiserver, &KnownGates::default(), args)
    }

    /// Parses the command line of a program with these feature gates.
    pub fn parse_for(
        program: Program,
        gates: &KnownGates,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, Error> {
        let values = command::read(program, gates, args)?;
        let options = Self::from_values(program, &values).map_err(Error::Options)?;
        if program.delegates() { options.delegating(&values).map_err(Error::Options) } else { Ok(options) }
    }

    /// Configures delegation to another API server, and disables what only the main server does.
    fn delegating(mut self, values: &Values) -> Result<Self, String> {
        self.authentication.delegation = Some(values.delegation()?);
        self.authentication.webhook = Some(values.token_reviews()?);
        self.authentication.service_account_issuers.clear();
        self.authentication.api_audiences.clear();
        self.authorization = values.access_reviews()?;
        self.requests.priority_and_fairness = false;
        Ok(self)
    }

    /// Applies the egress selector to webhooks that are configured by URL.
    fn routed(mut self) -> Self {
        let route = &self.egress.control_plane;
        let tokens = self.authentication.webhook.iter_mut().map(|webhook| &mut webhook.route);
        let access = self.authorization.webhook.iter_mut().map(|webhook| &mut webhook.route);
        let events = self.audit.webhook.iter_mut().map(|webhook| &mut webhook.route);
        tokens.chain(access).chain(events).for_each(|of| of.clone_from(route));
        self
    }

    /// Disables delegation: the server authenticates its own administrator, and denies all other
    /// users.
    pub fn stand_alone(&mut self) {
        self.authentication.delegation = None;
        self.authentication.webhook = None;
        self.authorization.modes.clear();
        self.authorization.webhook = None;
    }

    /// Completes and validates the options. All sections are checked, so that all errors are
    /// reported together.
    fn from_values(program: Program, values: &Values) -> Result<Self, String> {
        let mut errors = ErrorList::default();
        values.check_forms(&mut errors);
        values.check_fixed(&mut errors);
        let data_dir = PathBuf::from(values.text("data-dir"));
        let serving = errors.checked(values.serving(&data_dir));
        let authentication = errors.checked(values.authentication());
        let authorization = errors.checked(values.authorization());
        let requests = errors.checked(values.requests());
        let storage = errors.checked(values.storage());
        let services = errors.checked(values.services());
        let admission = errors.checked(values.admission());
        let aggregation = errors.checked(values.aggregation());
        let peers = values.peers(&mut errors);
        let kubelet = errors.checked(values.kubelet());
        let audit = errors.checked(values.audit());
        let egress = errors.checked(values.egress());
        let tracing_config_file = errors.checked(values.tracing_config_file());
        let runtime_config = errors.checked(values.runtime_config());
        let features = errors.checked(values.features());
        let metrics = errors.checked(values.metrics());
        let logs = errors.checked(values.logs());
        let [profiling, serves_logs, allow_privileged] =
            ["profiling", "enable-logs-handler", "allow-privileged"].map(|flag| errors.checked(values.bool(flag)));
        let event_ttl = errors.checked(values.duration("event-ttl"));
        let options = || {
            Some(Options {
                program,
                serving: serving?,
                data_dir,
                authentication: authentication?,
                authorization: authorization?,
                requests: requests?,
                storage: storage?,
                services: services?,
                admission: admission?,
                aggregation: aggregation?,
                peers,
                kubelet: kubelet?,
                audit: audit?,
                egress: egress?,
                tracing_config_file: tracing_config_file?,
                runtime_config: runtime_config?,
                features: features?,
                profiling: profiling?,
                debug_socket: values.path("debug-socket-path"),
                serves_logs: serves_logs?,
                allow_privileged: allow_privileged?,
                event_ttl: event_ttl?,
                metrics: metrics?,
                logs: logs?,
                deprecated: values.deprecated(),
                flags: values.shown(),
            })
        };
        errors.or(options()).map(Options::routed)
    }
}

#[cfg(test)]
mod tests;
