//! The command line, with upstream's flag names and meanings (upstream: `cmd/kube-apiserver/app/options`).
//!
//! [`flags::FLAGS`] is the whole vocabulary; this module turns what was given into typed [`Options`], with one error for one mistake.

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

/// The part of the help that a flag stands in.
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

/// What values a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `--flag`, `--flag=true`, `--flag=false`.
    Bool,
    /// One value, the last one given.
    One,
    /// Values separated by commas; more of them when repeated.
    List,
    /// One value each time it is given.
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

/// How the server was asked to run.
#[derive(Clone, Debug)]
pub struct Options {
    pub program: Program,
    /// Where objects, certificates and keys are kept.
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
    /// A TracingConfiguration: where traces of requests go.
    pub tracing_config_file: Option<PathBuf>,
    pub audit: AuditOptions,
    /// `batch/v1=false` as (`batch/v1`, `false`).
    pub runtime_config: Vec<(String, bool)>,
    pub features: Arc<FeatureGates>,
    pub profiling: bool,
    /// The Unix socket at which profiles and flags can be had by everybody who can open it.
    pub debug_socket: Option<PathBuf>,
    /// Whether `/logs` shows what is below `/var/log`.
    pub serves_logs: bool,
    pub allow_privileged: bool,
    pub event_ttl: Duration,
    pub metrics: MetricsOptions,
    pub logs: LogOptions,
    /// What is to be said about deprecated flags that were given.
    pub deprecated: Vec<String>,
    /// Every flag with its value, by name (`/flagz`).
    pub flags: Vec<(String, String)>,
}

/// Listening.
#[derive(Clone, Debug)]
pub struct ServingOptions {
    /// What this host is called: servers of a cluster are told apart by it.
    pub hostname: String,
    pub bind_address: IpAddr,
    pub secure_port: u16,
    pub advertise_address: Option<IpAddr>,
    pub external_hostname: String,
    /// Where certificates are kept that the server makes.
    pub cert_dir: PathBuf,
    /// Certificate and key to serve with.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Certificates for clients who ask for one of other names.
    pub sni: Vec<SniCertificate>,
    /// Whether TLS 1.2 is refused.
    pub tls13_only: bool,
    /// The suites of TLS 1.2 that are spoken; none: all that are known.
    pub cipher_suites: Vec<CipherSuite>,
    /// The groups of the key exchange, the preferred one first; none: all that are known.
    pub key_exchange_groups: Vec<NamedGroup>,
    /// Whether other servers may listen on the port as well.
    pub shares_port: bool,
    pub http2: bool,
    pub http2_max_streams: u32,
    pub connections: ConnectionOptions,
    /// How long requests are still served after the signal to stop.
    pub shutdown_delay: Duration,
    /// Whether requests that come after that are answered, with the advice to try again, until those before them are done.
    pub shutdown_send_retry_after: bool,
    /// Over how long the ends of watches are spread after that.
    pub shutdown_watch_grace: Duration,
    /// For how long after the start `/livez` counts work of the start as done that is not.
    pub livez_grace: Duration,
}

/// Telling who asks.
#[derive(Clone, Debug)]
pub struct AuthenticationOptions {
    pub anonymous: bool,
    /// Whether the command line says so.
    pub anonymous_is_given: bool,
    pub client_ca_file: Option<PathBuf>,
    pub token_auth_file: Option<PathBuf>,
    /// Issuers of service account tokens; the first one issues.
    pub service_account_issuers: Vec<String>,
    pub service_account_key_files: Vec<PathBuf>,
    pub service_account_signing_key_file: Option<PathBuf>,
    /// The Unix socket of a program that signs instead: a path, or `@` and a name.
    pub service_account_signing_endpoint: Option<String>,
    /// Where clients find the keys of service account tokens, unless at this server.
    pub service_account_jwks_uri: Option<String>,
    /// Audiences of this server; the first issuer unless given.
    pub api_audiences: Vec<String>,
    /// Whether tokens of secrets are compared with the secrets.
    pub service_account_lookup: bool,
    /// Whether tokens that admission asks for last longer than asked, while clients learn to renew them.
    pub service_account_extend_expiration: bool,
    /// Longest life of a token; without a limit when not given.
    pub service_account_max_expiration: Option<Duration>,
    /// Whether secrets of type `bootstrap.kubernetes.io/token` are tokens.
    pub bootstrap_tokens: bool,
    /// The authorities of front proxies, and what these say in which headers.
    pub request_headers: Option<(PathBuf, RequestHeaders)>,
    /// OpenID Connect issuers.
    pub issuers: IssuerOptions,
    pub webhook: Option<TokenWebhookOptions>,
    /// Asking another API server for authorities.
    pub delegation: Option<DelegationOptions>,
}

/// Asking another API server whom to believe (upstream: `DelegatingAuthenticationOptions`).
#[derive(Clone, Debug)]
pub struct DelegationOptions {
    pub server: ReviewServer,
    /// The authorities of the flags count alone.
    pub skips_lookup: bool,
    pub tolerates_failure: bool,
}

/// Who answers reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewServer {
    /// A webhook, at the address of a kubeconfig.
    Webhook(PathBuf),
    /// An API server: that of a kubeconfig, or of the cluster that this program runs in.
    ApiServer(Option<PathBuf>),
}

/// A server that knows tokens.
#[derive(Clone, Debug)]
pub struct TokenWebhookOptions {
    pub server: ReviewServer,
    /// `v1` or `v1beta1`.
    pub version: String,
    /// For how long its answers count.
    pub remembered: Duration,
    pub route: Route,
}

/// How requests are treated before they reach a resource.
#[derive(Clone, Debug)]
pub struct RequestOptions {
    pub request_timeout: Duration,
    pub min_request_timeout: Duration,
    /// Reads at a time; 0 for no limit.
    pub max_in_flight: usize,
    /// Writes at a time; 0 for no limit.
    pub max_mutating_in_flight: usize,
    /// Bytes that all requests together may take; 0 for a part of the memory that there is.
    pub max_memory: u64,
    /// Whether the limits are shared out by priority, and requests above them wait.
    pub priority_and_fairness: bool,
    pub cors_allowed_origins: Vec<String>,
    pub hsts_directives: Vec<String>,
    pub goaway_chance: f64,
    /// Bytes a second, each way, of connections to pods; none: as many as there are.
    pub connection_bytes_per_second: Option<u64>,
}

/// Addresses and ports of services.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// One range, or one of each address family.
    pub cluster_ip_ranges: Vec<Cidr>,
    pub node_port_range: PortRange,
    /// The port of nodes at which the service of this server is reached, if it is.
    pub kubernetes_node_port: Option<u16>,
    /// Whether this server puts its address into that service.
    pub reconciles_endpoints: bool,
}

/// Divides a command line (without the program's name) at a leading word that is no flag: `convert --from x` is `convert` and the rest.
pub fn subcommand(args: &[OsString]) -> Option<(&str, &[OsString])> {
    let (first, rest) = args.split_first()?;
    let word = first.to_str()?;
    (!word.is_empty() && !word.starts_with('-')).then_some((word, rest))
}

impl Options {
    /// Reads a command line, the program's name first.
    pub fn parse_from(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, Error> {
        Self::parse_for(Program::KubeApiserver, &KnownGates::default(), args)
    }

    /// Reads the command line of a program that knows these feature gates.
    pub fn parse_for(
        program: Program,
        gates: &KnownGates,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, Error> {
        let values = command::read(program, gates, args)?;
        let options = Self::from_values(program, &values).map_err(Error::Options)?;
        if program.delegates() { options.delegating(&values).map_err(Error::Options) } else { Ok(options) }
    }

    /// Has another API server asked, and leaves out what only a main server does.
    fn delegating(mut self, values: &Values) -> Result<Self, String> {
        self.authentication.delegation = Some(values.delegation()?);
        self.authentication.webhook = Some(values.token_reviews()?);
        self.authentication.service_account_issuers.clear();
        self.authentication.api_audiences.clear();
        self.authorization = values.access_reviews()?;
        self.requests.priority_and_fairness = false;
        Ok(self)
    }

    /// Has webhooks that are named by an address reached as the egress selector says.
    fn routed(mut self) -> Self {
        let route = &self.egress.control_plane;
        let tokens = self.authentication.webhook.iter_mut().map(|webhook| &mut webhook.route);
        let access = self.authorization.webhook.iter_mut().map(|webhook| &mut webhook.route);
        let events = self.audit.webhook.iter_mut().map(|webhook| &mut webhook.route);
        tokens.chain(access).chain(events).for_each(|of| of.clone_from(route));
        self
    }

    /// Makes the server ask nobody: it knows its own administrator, and lets no one else do anything.
    pub fn stand_alone(&mut self) {
        self.authentication.delegation = None;
        self.authentication.webhook = None;
        self.authorization.modes.clear();
        self.authorization.webhook = None;
    }

    /// Completes and checks what was given: all sections, so that all their mistakes are told at once.
    fn from_values(program: Program, values: &Values) -> Result<Self, String> {
        let mut mistakes = ErrorList::default();
        values.check_forms(&mut mistakes);
        values.check_fixed(&mut mistakes);
        let data_dir = PathBuf::from(values.text("data-dir"));
        let serving = mistakes.checked(values.serving(&data_dir));
        let authentication = mistakes.checked(values.authentication());
        let authorization = mistakes.checked(values.authorization());
        let requests = mistakes.checked(values.requests());
        let storage = mistakes.checked(values.storage());
        let services = mistakes.checked(values.services());
        let admission = mistakes.checked(values.admission());
        let aggregation = mistakes.checked(values.aggregation());
        let peers = values.peers(&mut mistakes);
        let kubelet = mistakes.checked(values.kubelet());
        let audit = mistakes.checked(values.audit());
        let egress = mistakes.checked(values.egress());
        let tracing_config_file = mistakes.checked(values.tracing_config_file());
        let runtime_config = mistakes.checked(values.runtime_config());
        let features = mistakes.checked(values.features());
        let metrics = mistakes.checked(values.metrics());
        let logs = mistakes.checked(values.logs());
        let [profiling, serves_logs, allow_privileged] =
            ["profiling", "enable-logs-handler", "allow-privileged"].map(|flag| mistakes.checked(values.bool(flag)));
        let event_ttl = mistakes.checked(values.duration("event-ttl"));
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
        mistakes.or(options()).map(Options::routed)
    }
}

#[cfg(test)]
mod tests;
