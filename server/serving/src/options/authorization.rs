//! Flags about who may do what (upstream: `BuiltInAuthorizationOptions`).

use std::path::PathBuf;
use std::time::Duration;

use super::values::Values;

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
    /// Authorizers, in the order they are asked.
    pub modes: Vec<AuthorizationMode>,
    /// The policy of ABAC.
    pub policy_file: Option<PathBuf>,
    pub webhook: Option<AccessWebhookOptions>,
}

/// A server that knows who may do what.
#[derive(Clone, Debug)]
pub struct AccessWebhookOptions {
    /// A kubeconfig.
    pub config_file: PathBuf,
    /// `v1` or `v1beta1`.
    pub version: String,
    /// For how long permissions and refusals count.
    pub allowed: Duration,
    pub refused: Duration,
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
        let modes = self.authorization_modes()?;
        let (abac, webhook) = (modes.contains(&AuthorizationMode::Abac), modes.contains(&AuthorizationMode::Webhook));
        let policy_file = self.path("authorization-policy-file");
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
        Ok(AuthorizationOptions { modes, policy_file, webhook })
    }

    fn access_webhook(&self, config_file: PathBuf) -> Result<AccessWebhookOptions, String> {
        Ok(AccessWebhookOptions {
            config_file,
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
