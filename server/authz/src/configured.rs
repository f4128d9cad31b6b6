//! Authorizers from the configuration file, which is reloaded when it changes (upstream: `kubeapiserver/authorizer`,
//! KEP-3221).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use apimachinery::apiserverconfig::v1::{AuthorizationConfiguration, AuthorizerConfiguration};
use options::configuration::{self, Unknown};
use options::reload::{self, Reloads};
use options::{AccessWebhookOptions, Error};
use request::{BoxFuture, User};
use webhook::Route;

use crate::attributes::Attributes;
use crate::authorizer::{Authorizer, Decision, Rules};
use crate::conditions::Conditions;
use crate::metrics::{InstrumentedAuthorizer, Metrics};
use crate::standard::{AlwaysAllow, AlwaysDeny};
use crate::union::Union;
use crate::validation::{self, WEBHOOK};
use crate::webhook::AccessWebhook;

const GROUP: &str = "apiserver.config.k8s.io";
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// Authorizers that are created at startup and reused by every reload.
pub struct StaticAuthorizers {
    pub rbac: Arc<dyn Authorizer>,
    pub node: Option<Arc<dyn Authorizer>>,
    pub abac: Option<Arc<dyn Authorizer>>,
    pub metrics: Metrics,
    /// The route for connections to webhooks.
    pub route: Route,
}

/// The authorizers of the current configuration file (upstream: `reloadableAuthorizerResolver`).
pub struct ReloadableAuthorizer(RwLock<Arc<Union>>);

/// Reads and validates a configuration file. Returns the configuration and the content of the file.
pub fn load(path: &PathBuf) -> Result<(AuthorizationConfiguration, Vec<u8>), Error> {
    let text = std::fs::read(path).map_err(Error::file(path))?;
    let configuration = parse(&text).map_err(Error::Invalid)?;
    validation::compile(&configuration, &BTreeSet::new()).map_err(Error::Invalid)?;
    Ok((configuration, text))
}

fn parse(text: &[u8]) -> Result<AuthorizationConfiguration, String> {
    let document: Result<AuthorizationConfiguration, String> =
        configuration::parse(text, GROUP, &VERSIONS, "AuthorizationConfiguration", Unknown::Refused);
    let mut document = document.map_err(|why| format!("failed to load AuthorizationConfiguration from file: {why}"))?;
    document.authorizers.iter_mut().filter_map(|authorizer| authorizer.webhook.as_deref_mut()).for_each(set_defaults);
    Ok(document)
}

/// Sets the defaults of a webhook (upstream: `SetDefaults_WebhookConfiguration`).
fn set_defaults(webhook: &mut apimachinery::apiserverconfig::v1::WebhookConfiguration) {
    for (time, seconds) in [(&mut webhook.authorized_ttl, 5 * 60), (&mut webhook.unauthorized_ttl, 30)] {
        if time.nanos() == 0 {
            *time = machinery::scalar::Duration::from_secs(seconds);
        }
    }
}

impl ReloadableAuthorizer {
    /// Creates the authorizers of a file that was read, and watches the file for changes. Needs a tokio runtime.
    pub fn start(
        path: PathBuf,
        (configuration, text): (AuthorizationConfiguration, Vec<u8>),
        authorizers: StaticAuthorizers,
        reloads: Reloads,
    ) -> Result<Arc<Self>, Error> {
        let types = configuration.authorizers.iter().map(|a| a.r#type.clone()).filter(|of| of != WEBHOOK);
        let required: BTreeSet<String> = types.collect();
        let union = authorizers.build(&configuration, &required).map_err(Error::Invalid)?;
        let configured = Arc::new(ReloadableAuthorizer(RwLock::new(Arc::new(union))));
        let changed = configured.clone();
        reload::follow(path, text, reloads, move |text| {
            let union = authorizers.build(&parse(text)?, &required)?;
            *changed.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(union);
            Ok(())
        });
        Ok(configured)
    }

    fn current(&self) -> Arc<Union> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Authorizer for ReloadableAuthorizer {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move { self.current().authorize(attributes).await })
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, Rules> {
        Box::pin(async move { self.current().rules(user, namespace).await })
    }
}

impl StaticAuthorizers {
    fn build(&self, configuration: &AuthorizationConfiguration, required: &BTreeSet<String>) -> Result<Union, String> {
        let conditions = validation::compile(configuration, required)?;
        let each = configuration.authorizers.iter().zip(conditions);
        let authorizers = each.map(|(authorizer, conditions)| {
            let inner = self.authorizer(authorizer, conditions)?;
            Ok(Arc::new(InstrumentedAuthorizer::new(inner, &authorizer.r#type, &authorizer.name, &self.metrics))
                as Arc<dyn Authorizer>)
        });
        authorizers.collect::<Result<Vec<_>, String>>().map(Union::new)
    }

    fn authorizer(
        &self,
        authorizer: &AuthorizerConfiguration,
        conditions: Conditions,
    ) -> Result<Arc<dyn Authorizer>, String> {
        let later =
            |of: &str| format!("authorizer type {of} is not allowed if it was not enabled at initial server startup");
        Ok(match (authorizer.r#type.as_str(), &authorizer.webhook) {
            ("RBAC", _) => self.rbac.clone(),
            ("Node", _) => self.node.clone().ok_or_else(|| later("Node"))?,
            ("ABAC", _) => self.abac.clone().ok_or_else(|| later("ABAC"))?,
            ("AlwaysAllow", _) => Arc::new(AlwaysAllow),
            ("AlwaysDeny", _) => Arc::new(AlwaysDeny),
            (WEBHOOK, Some(webhook)) => {
                let route = self.route.clone();
                let options =
                    AccessWebhookOptions { route, ..AccessWebhookOptions::of_file(&authorizer.name, webhook) };
                let webhook = AccessWebhook::load(&options, &self.metrics).map_err(|why| why.to_string())?;
                Arc::new(webhook.with_conditions(conditions))
            }
            (other, _) => return Err(format!("unknown authorization mode {other} specified")),
        })
    }
}

#[cfg(test)]
mod tests;
