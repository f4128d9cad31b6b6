//! Converts flag values to typed options, with upstream's validation and completion.

use std::collections::HashMap;
use std::fmt::Display;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderName;
use webhook::Route;

use super::Kind;
use super::error_list::ErrorList;
use super::flags::FLAGS;
use super::{
    AuthenticationOptions, Cidr, PortRange, RequestOptions, ServiceOptions, ServingOptions, TokenWebhookOptions,
};
use crate::authentication::RequestHeaders;
use crate::identity;
use machinery::features::{FeatureGates, KnownGates, parse_bool};

/// Upstream's `http2` default.
const HTTP2_MAX_STREAMS: u32 = 250;

/// The given values of flags, and the defaults of the others.
pub(super) struct Values {
    defaults: HashMap<&'static str, &'static str>,
    given: HashMap<&'static str, Vec<String>>,
    gates: KnownGates,
}

impl Values {
    pub(super) fn new(
        defaults: impl Iterator<Item = (&'static str, &'static str)>,
        given: impl Iterator<Item = (&'static str, Vec<String>)>,
        gates: &KnownGates,
    ) -> Self {
        Values { defaults: defaults.collect(), given: given.collect(), gates: gates.clone() }
    }

    /// The error of a value, in the format of upstream's flag library.
    pub(super) fn invalid(&self, flag: &str, why: impl Display) -> String {
        let value = self.given.get(flag).map(|v| v.join(",")).unwrap_or_default();
        format!("invalid argument {value:?} for \"--{flag}\" flag: {why}")
    }

    pub(super) fn text(&self, flag: &str) -> &str {
        let given = self.given.get(flag).and_then(|v| v.last()).map(String::as_str);
        given.or_else(|| self.defaults.get(flag).copied()).unwrap_or("")
    }

    /// Whether the flag is on the command line.
    pub(super) fn is_given(&self, flag: &str) -> bool {
        self.given.contains_key(flag)
    }

    /// Whether a feature gate is enabled; an unparsable flag counts as not given.
    pub(super) fn has_gate(&self, name: &str) -> bool {
        self.gates.parse(self.list("feature-gates")).unwrap_or_default().enabled(name)
    }

    /// The values of a flag that takes several.
    pub(super) fn list(&self, flag: &str) -> Vec<&str> {
        let texts: Vec<&str> = match self.given.get(flag) {
            Some(given) => given.iter().map(String::as_str).collect(),
            None => self.defaults.get(flag).copied().into_iter().collect(),
        };
        texts.into_iter().flat_map(|text| text.split(',')).map(str::trim).filter(|v| !v.is_empty()).collect()
    }

    pub(super) fn repeated(&self, flag: &str) -> Vec<String> {
        self.given.get(flag).cloned().unwrap_or_default()
    }

    pub(super) fn path(&self, flag: &str) -> Option<PathBuf> {
        Some(self.text(flag)).filter(|text| !text.is_empty()).map(PathBuf::from)
    }

    pub(super) fn bool(&self, flag: &str) -> Result<bool, String> {
        let text = self.text(flag);
        parse_bool(text)
            .ok_or_else(|| self.invalid(flag, format!("strconv.ParseBool: parsing {text:?}: invalid syntax")))
    }

    pub(super) fn number<N: FromStr>(&self, flag: &str) -> Result<N, String> {
        let text = self.text(flag);
        text.parse().map_err(|_| self.invalid(flag, format!("parsing {text:?}: invalid syntax or out of range")))
    }

    pub(super) fn duration(&self, flag: &str) -> Result<Duration, String> {
        let duration = machinery::scalar::Duration::parse(self.text(flag)).map_err(|why| self.invalid(flag, why))?;
        let nanos = u64::try_from(duration.nanos()).map_err(|_| self.invalid(flag, "must not be negative"))?;
        Ok(Duration::from_nanos(nanos))
    }

    /// Checks the syntax of all given values, before they are converted.
    pub(super) fn check_forms(&self, errors: &mut ErrorList) {
        let mut given: Vec<&str> = self.given.keys().copied().collect();
        given.sort_unstable();
        for flag in FLAGS.iter().filter(|flag| given.binary_search(&flag.name).is_ok()) {
            let read = match (flag.kind, flag.value) {
                (Kind::Bool, _) => self.bool(flag.name).map(drop),
                (_, "DURATION") => self.duration(flag.name).map(drop),
                _ => Ok(()),
            };
            errors.checked(read);
        }
    }

    pub(super) fn parsed<T: FromStr<Err: Display>>(&self, flag: &str, text: &str) -> Result<T, String> {
        text.parse().map_err(|why| self.invalid(flag, why))
    }

    /// All flags with their values, by name, in the format of `/flagz`.
    pub(super) fn shown(&self) -> Vec<(String, String)> {
        let shown = |flag: &super::Flag| {
            let text = match flag.kind {
                Kind::Bool | Kind::One => self.text(flag.name).to_owned(),
                // Maps are written without brackets.
                _ if flag.value.contains('=') && !flag.value.contains('#') => self.list(flag.name).join(","),
                Kind::List => format!("[{}]", self.list(flag.name).join(",")),
                Kind::Repeated => format!("[{}]", self.repeated(flag.name).join(",")),
            };
            (flag.name.to_owned(), text)
        };
        let mut flags: Vec<_> = FLAGS.iter().map(shown).collect();
        flags.sort();
        flags
    }

    pub(super) fn serving(&self, data_dir: &Path) -> Result<ServingOptions, String> {
        let tls = match (self.path("tls-cert-file"), self.path("tls-private-key-file")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("--tls-cert-file and --tls-private-key-file must be given together".into()),
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

    pub(super) fn authentication(&self) -> Result<AuthenticationOptions, String> {
        let mut issuers = self.repeated("service-account-issuer");
        if issuers.is_empty() {
            issuers.push(self.text("service-account-issuer").to_owned());
        }
        for issuer in &issuers {
            if issuer.contains(':') && issuer.parse::<http::Uri>().is_err() {
                return Err(
                    self.invalid("service-account-issuer", format!("contains a ':' but is not a valid URL: {issuer}"))
                );
            }
        }
        let mut api_audiences: Vec<String> = self.list("api-audiences").into_iter().map(String::from).collect();
        if api_audiences.is_empty() {
            api_audiences.clone_from(&issuers);
        }
        Ok(AuthenticationOptions {
            anonymous: self.bool("anonymous-auth")?,
            anonymous_is_given: self.is_given("anonymous-auth"),
            client_ca_file: self.path("client-ca-file"),
            token_auth_file: self.path("token-auth-file"),
            service_account_issuers: issuers,
            service_account_key_files: self
                .repeated("service-account-key-file")
                .into_iter()
                .map(PathBuf::from)
                .collect(),
            service_account_signing_key_file: self.path("service-account-signing-key-file"),
            service_account_signing_endpoint: self.signing_endpoint()?,
            service_account_jwks_uri: self.jwks_uri()?,
            api_audiences,
            service_account_lookup: self.bool("service-account-lookup")?,
            service_account_extend_expiration: self.bool("service-account-extend-token-expiration")?,
            service_account_max_expiration: self.max_expiration()?,
            bootstrap_tokens: self.bool("enable-bootstrap-token-auth")?,
            request_headers: self.request_headers()?,
            issuers: self.issuers()?,
            webhook: self.token_webhook()?,
            delegation: None,
        })
    }

    fn token_webhook(&self) -> Result<Option<TokenWebhookOptions>, String> {
        let Some(config_file) = self.path("authentication-token-webhook-config-file") else { return Ok(None) };
        Ok(Some(TokenWebhookOptions {
            server: config_file.into(),
            version: self.webhook_version("authentication-token-webhook-version")?,
            cache_ttl: self.duration("authentication-token-webhook-cache-ttl")?,
            route: Route::DIRECT,
        }))
    }

    /// The version of the reviews of a webhook.
    pub(super) fn webhook_version(&self, flag: &str) -> Result<String, String> {
        match self.text(flag) {
            version @ ("v1" | "v1beta1") => Ok(version.to_owned()),
            other => Err(self.invalid(flag, format!("unsupported version {other:?}, write v1 or v1beta1"))),
        }
    }

    /// `TracingOptions.Validate`
    pub(super) fn tracing_config_file(&self) -> Result<Option<PathBuf>, String> {
        match self.path("tracing-config-file") {
            Some(path) if !path.exists() => Err(format!("tracing-config-file {} does not exist", path.display())),
            path => Ok(path),
        }
    }

    fn max_expiration(&self) -> Result<Option<Duration>, String> {
        let limit = self.duration("service-account-max-token-expiration")?;
        match limit.as_secs() {
            0 if limit.is_zero() => Ok(None),
            3600..=0x1_0000_0000 => Ok(Some(limit)),
            _ => Err("the service-account-max-token-expiration must be between 1 hour and 2^32 seconds".into()),
        }
    }

    /// `validateServiceAccountTokenSigningConfig`
    fn signing_endpoint(&self) -> Result<Option<String>, String> {
        let flag = "service-account-signing-endpoint";
        let endpoint = self.text(flag);
        if endpoint.is_empty() {
            return Ok(None);
        }
        if self.is_given("service-account-signing-key-file") {
            return Err(format!(
                "service-account-signing-key-file and {flag} are mutually exclusive and cannot be set at the same time"
            ));
        }
        if self.is_given("service-account-key-file") {
            return Err(format!(
                "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--{flag}` (They are mutually exclusive)"
            ));
        }
        let is_part =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if endpoint.strip_prefix('@').is_some_and(|name| !name.split('.').all(is_part)) {
            return Err(format!(
                "invalid value {endpoint:?} passed for `--{flag}`, when prefixed with @ must be a valid abstract socket name"
            ));
        }
        Ok(Some(endpoint.to_owned()))
    }

    /// `RequestHeaderAuthenticationOptions.ToAuthenticationRequestHeaderConfig`
    fn request_headers(&self) -> Result<Option<(PathBuf, RequestHeaders)>, String> {
        let Some(authorities) = self.path("requestheader-client-ca-file") else { return Ok(None) };
        let names = |flag: &str| -> Result<Vec<HeaderName>, String> {
            self.list(flag).into_iter().map(|name| self.parsed(flag, name)).collect()
        };
        let owned = |flag: &str| self.list(flag).into_iter().map(str::to_owned).collect();
        let headers = RequestHeaders {
            user_names: names("requestheader-username-headers")?,
            uids: names("requestheader-uid-headers")?,
            groups: names("requestheader-group-headers")?,
            extra_prefixes: self
                .list("requestheader-extra-headers-prefix")
                .into_iter()
                .map(str::to_ascii_lowercase)
                .collect(),
            allowed_names: owned("requestheader-allowed-names"),
        };
        Ok(Some((authorities, headers)))
    }

    fn jwks_uri(&self) -> Result<Option<String>, String> {
        match self.text("service-account-jwks-uri") {
            "" => Ok(None),
            uri if uri.starts_with("https://") && uri.parse::<http::Uri>().is_ok() => Ok(Some(uri.to_owned())),
            uri => Err(format!("service-account-jwks-uri requires https scheme, parsed as: {uri}")),
        }
    }

    pub(super) fn requests(&self) -> Result<RequestOptions, String> {
        let goaway_chance: f64 = self.number("goaway-chance")?;
        if !(0.0..=0.02).contains(&goaway_chance) {
            return Err("--goaway-chance can not be less than 0 or greater than 0.02".into());
        }
        let request_timeout = self.duration("request-timeout")?;
        if request_timeout.is_zero() {
            return Err("--request-timeout must be more than 0".into());
        }
        let (max_in_flight, max_mutating_in_flight) =
            (self.number("max-requests-inflight")?, self.number("max-mutating-requests-inflight")?);
        let priority_and_fairness = self.bool("enable-priority-and-fairness")?;
        if priority_and_fairness && max_in_flight == 0 && max_mutating_in_flight == 0 {
            return Err("invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive".into());
        }
        let owned = |flag| self.list(flag).into_iter().map(String::from).collect();
        self.list("strict-transport-security-directives").into_iter().try_for_each(check_directive)?;
        Ok(RequestOptions {
            request_timeout,
            min_request_timeout: Duration::from_secs(self.number("min-request-timeout")?),
            max_in_flight,
            max_mutating_in_flight,
            max_memory: self.number("max-request-memory")?,
            priority_and_fairness,
            cors_allowed_origins: owned("cors-allowed-origins"),
            hsts_directives: owned("strict-transport-security-directives"),
            goaway_chance,
            connection_bytes_per_second: Some(self.number("max-connection-bytes-per-sec")?).filter(|bytes| *bytes > 0),
        })
    }

    /// The address of the `kubernetes` service is in the first range; the advertised address must
    /// be of the same family.
    fn check_family(&self, first: Option<&Cidr>) -> Result<(), String> {
        let Some(first) = first.filter(|_| self.text("endpoint-reconciler-type") != "none") else { return Ok(()) };
        match self.text("advertise-address").parse::<IpAddr>() {
            Ok(address) if address.is_ipv4() != first.base.is_ipv4() => Err(format!(
                "service IP family {:?} must match public address family {:?}",
                first.to_string(),
                address.to_string()
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn services(&self) -> Result<ServiceOptions, String> {
        let flag = "service-cluster-ip-range";
        let ranges =
            self.list(flag).into_iter().map(|text| self.parsed(flag, text)).collect::<Result<Vec<Cidr>, _>>()?;
        self.check_family(ranges.first())?;
        match ranges.as_slice() {
            [_] => {}
            [first, second] if first.base.is_ipv4() != second.base.is_ipv4() => {}
            [_, _] => {
                return Err(
                    "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family"
                        .into(),
                );
            }
            _ => return Err("--service-cluster-ip-range must contain at most two entries, and at least one".into()),
        }
        if let Some(range) = ranges.iter().find(|range| range.nth(7).is_none()) {
            return Err(format!(
                "specified --service-cluster-ip-range; {range} is too small: at least 8 IP addresses are needed"
            ));
        }
        let node_port_range: PortRange =
            self.parsed("service-node-port-range", self.text("service-node-port-range"))?;
        let kubernetes_node_port = Some(self.number("kubernetes-service-node-port")?).filter(|port| *port != 0);
        if let Some(port) = kubernetes_node_port.filter(|port| !node_port_range.contains(*port)) {
            return Err(format!("kubernetes service node port range {node_port_range} doesn't contain {port}"));
        }
        Ok(ServiceOptions {
            cluster_ip_ranges: ranges,
            node_port_range,
            kubernetes_node_port,
            reconciles_endpoints: self.reconciles_endpoints()?,
        })
    }

    /// Upstream's type `master-count` is deprecated, because it keeps the addresses of removed
    /// servers; it is not supported.
    fn reconciles_endpoints(&self) -> Result<bool, String> {
        match self.text("endpoint-reconciler-type") {
            "lease" => Ok(true),
            "none" => Ok(false),
            other => Err(self.invalid(
                "endpoint-reconciler-type",
                format!("unknown endpoint reconciler type: {other:?}, write lease or none"),
            )),
        }
    }

    pub(super) fn features(&self) -> Result<Arc<FeatureGates>, String> {
        let gates = self.gates.parse(self.list("feature-gates"));
        gates.map(Arc::new).map_err(|why| self.invalid("feature-gates", why))
    }

    pub(super) fn runtime_config(&self) -> Result<Vec<(String, bool)>, String> {
        let flag = "runtime-config";
        let entry = |text: &str| {
            let (api, value) = text.split_once('=').unwrap_or((text, "true"));
            let on = if value.is_empty() { Some(true) } else { parse_bool(value) };
            let on =
                on.ok_or_else(|| self.invalid(flag, format!("invalid value {api}={value}, write true or false")))?;
            Ok((api.trim().to_owned(), on))
        };
        self.list(flag).into_iter().map(entry).collect()
    }
}

/// Validates a directive of the header Strict-Transport-Security (`validateHSTSDirectives`).
fn check_directive(directive: &str) -> Result<(), String> {
    let is_age = || matches!(directive.split('=').collect::<Vec<_>>()[..], ["max-age", _]);
    if matches!(directive, "includeSubDomains" | "preload") || is_age() {
        return Ok(());
    }
    Err("--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information".into())
}
