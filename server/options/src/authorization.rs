//! Flags of authorization (upstream: `BuiltInAuthorizationOptions`).

use std::path::PathBuf;
use std::time::Duration;

use apimachinery::apiserverconfig::v1::WebhookConfiguration;

use webhook::{ReviewServer, Route};

use crate::error::FlagError;
use crate::values::FlagValues;

/// Flags that `--authorization-config` replaces.
const REPLACED: [&str; 5] = [
    "authorization-mode",
    "authorization-webhook-config-file",
    "authorization-webhook-version",
    "authorization-webhook-cache-authorized-ttl",
    "authorization-webhook-cache-unauthorized-ttl",
];
/// The timeout of the webhook of the flags.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An authorizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorizationMode {
    Node,
    Rbac,
    Abac,
    Webhook,
    AlwaysAllow,
    AlwaysDeny,
}

/// Options of authorization.
#[derive(Clone, Debug)]
pub struct AuthorizationOptions {
    /// An AuthorizationConfiguration file, reloaded on changes; it replaces the other options.
    pub config_file: Option<PathBuf>,
    /// Authorizers in the order in which they are called.
    pub modes: Vec<AuthorizationMode>,
    /// The policy file of ABAC.
    pub policy_file: Option<PathBuf>,
    pub webhook: Option<AccessWebhookOptions>,
    /// Paths that all users may get; a `*` at the end matches the rest.
    pub always_allowed_paths: Vec<String>,
}

/// Options of the authorization webhook.
#[derive(Clone, Debug)]
pub struct AccessWebhookOptions {
    /// The name in metrics.
    pub name: String,
    pub server: ReviewServer,
    /// `v1` or `v1beta1`.
    pub version: String,
    /// How long allowed and denied results are cached.
    pub allowed: Duration,
    pub refused: Duration,
    /// The timeout of a call.
    pub timeout: Duration,
    /// Whether a failed call is a denial.
    pub denies_on_error: bool,
    pub route: Route,
}

impl AccessWebhookOptions {
    /// Creates the options from a validated configuration file.
    pub fn of_file(name: &str, webhook: &WebhookConfiguration) -> Self {
        let time = |time: machinery::scalar::Duration| Duration::from_nanos(time.nanos().unsigned_abs());
        let cache_ttl = |is_on: Option<bool>, limit| if is_on == Some(false) { Duration::ZERO } else { time(limit) };
        AccessWebhookOptions {
            name: name.to_owned(),
            server: PathBuf::from(webhook.connection_info.kube_config_file.clone().unwrap_or_default()).into(),
            version: webhook.subject_access_review_version.clone(),
            allowed: cache_ttl(webhook.cache_authorized_requests, webhook.authorized_ttl),
            refused: cache_ttl(webhook.cache_unauthorized_requests, webhook.unauthorized_ttl),
            timeout: time(webhook.timeout),
            denies_on_error: webhook.failure_policy == "Deny",
            route: Route::DIRECT,
        }
    }
}

impl AuthorizationMode {
    const ALL: [Self; 6] = [Self::Node, Self::Rbac, Self::Abac, Self::Webhook, Self::AlwaysAllow, Self::AlwaysDeny];

    /// The name in flags, configuration files and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            AuthorizationMode::Node => "Node",
            AuthorizationMode::Rbac => "RBAC",
            AuthorizationMode::Abac => "ABAC",
            AuthorizationMode::Webhook => "Webhook",
            AuthorizationMode::AlwaysAllow => "AlwaysAllow",
            AuthorizationMode::AlwaysDeny => "AlwaysDeny",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl FlagValues {
    pub(super) fn authorization(&self) -> Result<AuthorizationOptions, FlagError> {
        let policy_file = self.path("authorization-policy-file");
        if let Some(config_file) = self.path("authorization-config") {
            if REPLACED.iter().any(|flag| self.is_given(flag)) {
                return Err(FlagError::AuthorizationConfig);
            }
            return Ok(AuthorizationOptions {
                config_file: Some(config_file),
                modes: Vec::new(),
                policy_file,
                webhook: None,
                always_allowed_paths: Vec::new(),
            });
        }
        let modes = self.authorization_modes()?;
        let (abac, webhook) = (modes.contains(&AuthorizationMode::Abac), modes.contains(&AuthorizationMode::Webhook));
        let config_file = self.path("authorization-webhook-config-file");
        match (abac, policy_file.is_some(), webhook, config_file.is_some()) {
            (true, false, ..) => return Err(FlagError::NoPolicyFile),
            (false, true, ..) => return Err(FlagError::UnusedPolicyFile),
            (.., true, false) => return Err(FlagError::NoAuthorizationWebhook),
            (.., false, true) => return Err(FlagError::UnusedAuthorizationWebhook),
            _ => {}
        }
        let webhook = config_file.map(|config_file| self.access_webhook(config_file)).transpose()?;
        Ok(AuthorizationOptions { config_file: None, modes, policy_file, webhook, always_allowed_paths: Vec::new() })
    }

    fn access_webhook(&self, config_file: PathBuf) -> Result<AccessWebhookOptions, FlagError> {
        Ok(AccessWebhookOptions {
            name: "default".into(),
            timeout: TIMEOUT,
            denies_on_error: false,
            route: Route::DIRECT,
            server: config_file.into(),
            version: self.webhook_version("authorization-webhook-version")?,
            allowed: self.duration("authorization-webhook-cache-authorized-ttl")?,
            refused: self.duration("authorization-webhook-cache-unauthorized-ttl")?,
        })
    }

    fn authorization_modes(&self) -> Result<Vec<AuthorizationMode>, FlagError> {
        let names = self.list("authorization-mode");
        if names.is_empty() {
            return Err(FlagError::NoAuthorizationMode);
        }
        let mut modes = Vec::with_capacity(names.len());
        for name in names {
            let mode = AuthorizationMode::of(name);
            let mode = mode.ok_or_else(|| FlagError::AuthorizationMode { name: name.to_owned() })?;
            if modes.contains(&mode) {
                let modes = self.text("authorization-mode").to_owned();
                return Err(FlagError::RepeatedAuthorizationMode { modes });
            }
            modes.push(mode);
        }
        Ok(modes)
    }
}
