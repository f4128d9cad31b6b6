//! The options of a server: parsed, completed and validated.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use machinery::features::{FeatureGates, KnownGates};

use crate::admission::AdmissionOptions;
use crate::aggregation::AggregationOptions;
use crate::audit::AuditOptions;
use crate::authentication::AuthenticationOptions;
use crate::authorization::AuthorizationOptions;
use crate::command;
use crate::controllers::ControllerOptions;
use crate::egress::EgressOptions;
use crate::error::{Error, FlagError, FlagErrors};
use crate::error_list::ErrorList;
use crate::kubelet::KubeletOptions;
use crate::logs::LogOptions;
use crate::metrics::MetricsOptions;
use crate::peers::PeerOptions;
use crate::program::ServerProgram;
use crate::requests::RequestOptions;
use crate::services::ServiceOptions;
use crate::serving::ServingOptions;
use crate::storage::StorageOptions;
use crate::values::FlagValues;

/// The options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    pub program: ServerProgram,
    /// The directory of objects, certificates, and keys.
    pub data_dir: PathBuf,
    pub serving: ServingOptions,
    pub authentication: AuthenticationOptions,
    pub authorization: AuthorizationOptions,
    pub requests: RequestOptions,
    pub storage: StorageOptions,
    pub services: ServiceOptions,
    pub controllers: ControllerOptions,
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
    /// Whether the server is one of a test, and the only API server of its store.
    pub test_server: bool,
    /// Whether the console and swagger-ui are served.
    pub ui: bool,
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
    ///
    /// # Errors
    /// As [`Options::parse_for`].
    pub fn parse_from(args: impl IntoIterator<Item = impl Into<OsString>>) -> Result<Self, Error> {
        Self::parse_for(ServerProgram::KubeApiserver, &KnownGates::default(), args)
    }

    /// Parses the command line of a program with these feature gates.
    ///
    /// # Errors
    /// The command line is invalid, or requests a text ([`Error::Print`]).
    pub fn parse_for(
        program: ServerProgram,
        gates: &KnownGates,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, Error> {
        let values = command::read(program, gates, args)?;
        let options = Self::from_values(program, &values)?;
        if program.delegates() { Ok(options.delegating(&values)?) } else { Ok(options) }
    }

    /// Configures delegation to another API server, and disables what only the main server does.
    fn delegating(mut self, values: &FlagValues) -> Result<Self, FlagError> {
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
    fn from_values(program: ServerProgram, values: &FlagValues) -> Result<Self, FlagErrors> {
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
        let controllers = errors.checked(values.controllers());
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
        let [ui, test_server] = ["ui", "test-server"].map(|flag| errors.checked(values.bool(flag)));
        let event_ttl = errors.checked(values.duration("event-ttl"));
        let options = || {
            let storage = storage?;
            // Not where other programs may rely on a server without these paths.
            let is_stand_alone = storage.etcd.servers.is_empty() && !program.delegates();
            Some(Options {
                program,
                ui: ui? && (is_stand_alone || values.is_given("ui")),
                test_server: test_server?,
                serving: serving?,
                data_dir,
                authentication: authentication?,
                authorization: authorization?,
                requests: requests?,
                storage,
                services: services?,
                controllers: controllers?,
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
