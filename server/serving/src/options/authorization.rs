//! Flags about who may do what (upstream: `BuiltInAuthorizationOptions`).

use std::path::PathBuf;
use std::time::Duration;

use apimachinery::apiserverconfig::v1::WebhookConfiguration;

use webhook::Route;

use super::ReviewServer;
use super::values::Values;

/// Flags that say what `--authorization-config` says in their stead.
const REPLACED: [&str; 5] = [
    "authorization-mode",
    "authorization-webhook-config-file",
    "authorization-webhook-version",
    "authorization-webhook-cache-authorized-ttl",
    "authorization-webhook-cache-unauthorized-ttl",
];
/// How long the webhook of the flags may take.
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

/// Telling who may do what.
#[derive(Clone, Debug)]
pub struct AuthorizationOptions {
    /// An AuthorizationConfiguration, which is read again when it changes and counts instead of the other options.
    pub config_file: Option<PathBuf>,
    /// Authorizers, in the order they are asked.
    pub modes: Vec<AuthorizationMode>,
    /// The policy of ABAC.
    pub policy_file: Option<PathBuf>,
    pub webhook: Option<AccessWebhookOptions>,
    /// Paths that everybody may get; a `*` at the end stands for the rest.
    pub always_allowed_paths: Vec<String>,
}

/// A server that knows who may do what.
#[derive(Clone, Debug)]
pub struct AccessWebhookOptions {
    /// Tells it apart in metrics.
    pub name: String,
    pub server: ReviewServer,
    /// `v1` or `v1beta1`.
    pub version: String,
    /// For how long permissions and refusals count.
    pub allowed: Duration,
    pub refused: Duration,
    /// How long an answer may take.
    pub timeout: Duration,
    /// Whether no answer is a refusal.
    pub denies_on_error: bool,
    pub route: Route,
}

impl AccessWebhookOptions {
    /// What a configuration file says, which has been validated.
    pub fn of_file(name: &str, said: &WebhookConfiguration) -> Self {
        let time = |time: machinery::scalar::Duration| Duration::from_nanos(time.nanos().unsigned_abs());
        let remembered = |is_on: Option<bool>, limit| if is_on == Some(false) { Duration::ZERO } else { time(limit) };
        AccessWebhookOptions {
            name: name.to_owned(),
            server: PathBuf::from(said.connection_info.kube_config_file.clone().unwrap_or_default()).into(),
            version: said.subject_access_review_version.clone(),
            allowed: remembered(said.cache_authorized_requests, said.authorized_ttl),
            refused: remembered(said.cache_unauthorized_requests, said.unauthorized_ttl),
            timeout: time(said.timeout),
            denies_on_error: said.failure_policy == "Deny",
            route: Route::DIRECT,
        }
    }
}

impl AuthorizationMode {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "Node" => AuthorizationMode::Node,
            "RBAC" => AuthorizationMode::Rbac,
            "ABAC" => AuthorizationMode::Abac,
            "Webhook" => AuthorizationMode::Webhook,
            "AlwaysAllow" => AuthorizationMode::AlwaysAllow,
            "AlwaysDeny" => AuthorizationMode::AlwaysDeny,
            _ => return None,
        })
    }
}

impl Values {
    pub(super) fn authorization(&self) -> Result<AuthorizationOptions, String> {
        let policy_file = self.path("authorization-policy-file");
        if let Some(config_file) = self.path("authorization-config") {
            if REPLACED.iter().any(|flag| self.is_given(flag)) {
                return Err("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined".into());
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
            (true, false, ..) => return Err("authorization-mode ABAC's authorization policy file not passed".into()),
            (false, true, ..) => return Err("cannot specify --authorization-policy-file without mode ABAC".into()),
            (.., true, false) => return Err("authorization-mode Webhook's authorization config file not passed".into()),
            (.., false, true) => {
                return Err("cannot specify --authorization-webhook-config-file without mode Webhook".into());
            }
            _ => {}
        }
        let webhook = config_file.map(|config_file| self.access_webhook(config_file)).transpose()?;
        Ok(AuthorizationOptions { config_file: None, modes, policy_file, webhook, always_allowed_paths: Vec::new() })
    }

    fn access_webhook(&self, config_file: PathBuf) -> Result<AccessWebhookOptions, String> {
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

    fn authorization_modes(&self) -> Result<Vec<AuthorizationMode>, String> {
        let names = self.list("authorization-mode");
        if names.is_empty() {
            return Err("at least one authorization-mode must be passed".into());
        }
        let mut modes = Vec::with_capacity(names.len());
        for name in names {
            let mode = AuthorizationMode::of(name);
            let mode = mode.ok_or_else(|| format!("authorization-mode {name:?} is not a valid mode"))?;
            if modes.contains(&mode) {
                return Err(format!(
                    "authorization-mode {:?} has mode specified more than once",
                    self.text("authorization-mode")
                ));
            }
            modes.push(mode);
        }
        Ok(modes)
    }
}
