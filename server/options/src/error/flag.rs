//! Errors of flags.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;

use super::{EgressError, FileError, ValueError};
use crate::network::{Cidr, PortRange};
use crate::words::{FORMATS, JSON, MODES, PROTOBUF, VERSION, VERSION_BEFORE};

/// The errors of a command line, in the order in which they were found; at least one.
#[derive(Debug, thiserror::Error)]
#[error("{}", lines(.0))]
pub struct FlagErrors(pub(crate) Vec<FlagError>);

impl From<FlagError> for FlagErrors {
    fn from(error: FlagError) -> Self {
        FlagErrors(vec![error])
    }
}

impl FlagErrors {
    /// Iterates over the errors.
    pub fn iter(&self) -> impl Iterator<Item = &FlagError> {
        self.0.iter()
    }
}

/// One error as it is, several with one line each.
fn lines(errors: &[FlagError]) -> String {
    match errors {
        [one] => one.to_string(),
        several => {
            let lines = several.iter().map(|error| format!("\n  {error}")).collect::<String>();
            format!("the command line has {} mistakes:{lines}", several.len())
        }
    }
}

/// A flag with an invalid value, or flags that contradict each other. The texts are upstream's,
/// where upstream has the flag.
#[derive(Debug, thiserror::Error)]
pub enum FlagError {
    /// The value of a flag is invalid. The text has the format of upstream's flag library.
    #[error("invalid argument {value:?} for \"--{flag}\" flag: {reason}")]
    Value {
        flag: String,
        value: String,
        #[source]
        reason: ValueError,
    },
    #[error("--{first} and --{second} must be given together")]
    Together { first: &'static str, second: &'static str },
    #[error("--{flag} {number} can't be a negative number")]
    Negative { flag: String, number: i64 },
    #[error("--{flag} requires {gate} feature to be turned on")]
    Disabled { flag: &'static str, gate: &'static str },
    #[error("--{flag} is not supported yet with {gate}: see docs/status.md")]
    Unsupported { flag: &'static str, gate: &'static str },
    #[error("--{more} must be greater than --{less}")]
    NotGreater { more: &'static str, less: &'static str },
    /// A file that a flag names cannot be read.
    #[error(transparent)]
    File(#[from] FileError),

    // Addresses and ports of services.
    #[error("service IP family {:?} must match public address family {:?}", range.to_string(), address.to_string())]
    AddressFamily { range: Cidr, address: IpAddr },
    #[error("--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family")]
    ServiceRangeFamilies,
    #[error("--service-cluster-ip-range must contain at most two entries, and at least one")]
    ServiceRangeCount,
    #[error("specified --service-cluster-ip-range; {range} is too small: at least 8 IP addresses are needed")]
    SmallServiceRange { range: Cidr },
    #[error("kubernetes service node port range {range} doesn't contain {port}")]
    NodePort { range: PortRange, port: u16 },

    // Requests.
    #[error("--goaway-chance can not be less than 0 or greater than 0.02")]
    GoawayChance,
    #[error("--request-timeout must be more than 0")]
    RequestTimeout,
    #[error(
        "invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive"
    )]
    NoRequestsInFlight,
    #[error(
        "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information"
    )]
    HstsDirective { directive: String },

    // Storage.
    #[error("--storage-media-type {media_type:?} invalid, allowed values: {JSON}, {PROTOBUF}")]
    StorageMediaType { media_type: String },
    #[error("--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'")]
    StorageBackend { backend: String },
    #[error("--etcd-listen-client-urls serves the store of the data directory, and --etcd-servers replaces that store")]
    EtcdListenOfServers,
    #[error(
        "--etcd-listen-client-urls {url}: the store has secrets; use http on loopback, or https with \
         --etcd-listen-cert-file, --etcd-listen-key-file and --etcd-listen-trusted-ca-file"
    )]
    EtcdListen { url: String },
    #[error("--etcd-servers must be specified")]
    NoEtcdServers,
    #[error(
        "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated"
    )]
    EtcdOverride { text: String },
    #[error("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config")]
    EncryptionReload,

    // Controllers.
    #[error("{controller:?} is not in the list of known controllers")]
    UnknownController { controller: String },
    #[error("controller {controller:?} is not part of this program; kube-controller-manager runs it")]
    AbsentController { controller: &'static str },
    #[error("--legacy-service-account-token-clean-up-period must be positive")]
    TokenCleanUpPeriod,

    // Authentication.
    #[error("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds")]
    MaxTokenExpiration,
    #[error(
        "service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time"
    )]
    SigningKeyAndEndpoint,
    #[error(
        "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)"
    )]
    KeysAndSigningEndpoint,
    #[error(
        "invalid value {endpoint:?} passed for `--service-account-signing-endpoint`, when prefixed with @ must be a valid abstract socket name"
    )]
    SigningEndpoint { endpoint: String },
    #[error("service-account-jwks-uri requires https scheme, parsed as: {uri}")]
    JwksUri { uri: String },
    #[error("authentication-config file and oidc-* flags are mutually exclusive")]
    OidcAndConfiguration,
    #[error("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")]
    OidcIncomplete,

    // Authorization.
    #[error(
        "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"
    )]
    AuthorizationConfig,
    #[error("authorization-mode ABAC's authorization policy file not passed")]
    NoPolicyFile,
    #[error("cannot specify --authorization-policy-file without mode ABAC")]
    UnusedPolicyFile,
    #[error("authorization-mode Webhook's authorization config file not passed")]
    NoAuthorizationWebhook,
    #[error("cannot specify --authorization-webhook-config-file without mode Webhook")]
    UnusedAuthorizationWebhook,
    #[error("at least one authorization-mode must be passed")]
    NoAuthorizationMode,
    #[error("authorization-mode {name:?} is not a valid mode")]
    AuthorizationMode { name: String },
    #[error("authorization-mode {modes:?} has mode specified more than once")]
    RepeatedAuthorizationMode { modes: String },

    // Auditing. A sink is `log` or `webhook`.
    #[error("invalid audit log format {format}, allowed formats are {FORMATS:?}")]
    AuditFormat { format: String },
    #[error("invalid group version, allowed versions are [{VERSION:?}]")]
    AuditVersion { version: String },
    #[error("invalid audit {sink} mode {mode}, allowed modes are {MODES:?}")]
    AuditMode { sink: &'static str, mode: String },
    #[error("invalid audit truncate {sink} max event size {size}, must be a positive number")]
    AuditEventSize { sink: &'static str, size: i64 },
    #[error("invalid audit truncate {sink} max batch size {batch}, must be greater than max event size ({event})")]
    AuditBatchSize { sink: &'static str, batch: i64, event: i64 },
    #[error("invalid audit batch {sink} {what} {number}, must be a positive number")]
    AuditBatch { sink: &'static str, what: &'static str, number: i64 },
    #[error("invalid audit batch {sink} throttle QPS {per_second}, must be a positive number")]
    AuditThrottle { sink: &'static str, per_second: f64 },

    // Flags with one supported value.
    #[error(
        "ServerRunOptions.{option} cannot be set to true if the emulation version is the same as the binary version"
    )]
    Emulation { option: &'static str },
    #[error("--apiserver-count should be a positive number, but value '{count}' provided")]
    ServerCount { count: i64 },

    // Admission.
    #[error("{flag} plugin {plugin:?} is unknown")]
    UnknownPlugin { flag: String, plugin: String },
    #[error("[{plugin}] in enable-admission-plugins and disable-admission-plugins overlapped")]
    PluginOverlap { plugin: String },
    #[error("admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive")]
    AdmissionControl,

    // Connections to other servers.
    #[error("error building peer proxy handler, proxy-cert-file not specified")]
    NoProxyCertificate,
    #[error("unable to read egress selector configuration from {:?} [{source}]", path.display().to_string())]
    EgressFile { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Egress { path: PathBuf, source: EgressError },

    // Metrics, traces and the log.
    #[error(
        "--show-hidden-metrics-for-version must be omitted or have the value '{VERSION_BEFORE}'. Only the previous minor version is allowed"
    )]
    HiddenMetrics { version: String },
    #[error("cannot specify both allowListMapping and allowListMappingManifest")]
    MetricLabels,
    #[error("tracing-config-file {} does not exist", path.display())]
    NoTracingFile { path: PathBuf },
    #[error("format: Invalid value: {format:?}: Unsupported log format")]
    LogFormat { format: String },
    #[error("flushFrequency: Invalid value: \"0s\": Must be greater than zero")]
    LogFlushFrequency,
    #[error("vmodule: Forbidden: Only supported for text log format")]
    LogModules,
    #[error("options.{format}.{field}: Forbidden: Feature {gate} is disabled")]
    LogStream { format: &'static str, field: &'static str, gate: &'static str },
}
