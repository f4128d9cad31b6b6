//! Authorizers from the configuration file, which is reloaded when it changes (upstream: `kubeapiserver/authorizer`,
//! KEP-3221).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use apimachinery::apiserverconfig::v1::{AuthorizationConfiguration, AuthorizerConfiguration};
use options::AccessWebhookOptions;
use options::configuration::{self, Unknown};
use options::reload::{self, Reloads};
use request::{BoxFuture, User};
use webhook::Route;

use crate::Error;
use crate::attributes::AuthorizationAttributes;
use crate::authorizer::{Authorizer, Decision, UserRules};
use crate::conditions::MatchConditions;
use crate::metrics::{InstrumentedAuthorizer, Metrics};
use crate::standard::{AlwaysAllow, AlwaysDeny};
use crate::union::UnionAuthorizer;
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
pub struct ReloadableAuthorizer(RwLock<Arc<UnionAuthorizer>>);

/// Reads and validates a configuration file. Returns the configuration and the content of the file.
///
/// # Errors
/// When the file cannot be read or is invalid.
pub fn load(path: &PathBuf) -> Result<(AuthorizationConfiguration, Vec<u8>), Error> {
    let text = std::fs::read(path).map_err(options::Error::file(path))?;
    let configuration = parse(&text)?;
    validation::compile(&configuration, &BTreeSet::new())?;
    Ok((configuration, text))
}

fn parse(text: &[u8]) -> Result<AuthorizationConfiguration, Error> {
    let mut document: AuthorizationConfiguration =
        configuration::parse(text, GROUP, &VERSIONS, "AuthorizationConfiguration", Unknown::Refused)?;
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
    ///
    /// # Errors
    /// When the configuration is invalid, or a webhook's client cannot be created.
    pub fn start(
        path: PathBuf,
        (configuration, text): (AuthorizationConfiguration, Vec<u8>),
        authorizers: StaticAuthorizers,
        reloads: Reloads,
    ) -> Result<Arc<Self>, Error> {
        let types = configuration.authorizers.iter().map(|a| a.r#type.clone()).filter(|of| of != WEBHOOK);
        let required: BTreeSet<String> = types.collect();
        let union = authorizers.build(&configuration, &required)?;
        let configured = Arc::new(ReloadableAuthorizer(RwLock::new(Arc::new(union))));
        let changed = configured.clone();
        reload::follow(path, text, reloads, move |text| -> Result<(), Error> {
            let union = authorizers.build(&parse(text)?, &required)?;
            *changed.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(union);
            Ok(())
        });
        Ok(configured)
    }

    fn current(&self) -> Arc<UnionAuthorizer> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Authorizer for ReloadableAuthorizer {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move { self.current().authorize(attributes).await })
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, UserRules> {
        Box::pin(async move { self.current().rules(user, namespace).await })
    }
}

impl StaticAuthorizers {
    fn build(
        &self,
        configuration: &AuthorizationConfiguration,
        required: &BTreeSet<String>,
    ) -> Result<UnionAuthorizer, Error> {
        let conditions = validation::compile(configuration, required)?;
        let each = configuration.authorizers.iter().zip(conditions);
        let authorizers = each.map(|(authorizer, conditions)| {
            let inner = self.authorizer(authorizer, conditions)?;
            Ok(Arc::new(InstrumentedAuthorizer::new(inner, &authorizer.r#type, &authorizer.name, &self.metrics))
                as Arc<dyn Authorizer>)
        });
        authorizers.collect::<Result<Vec<_>, Error>>().map(UnionAuthorizer::new)
    }

    fn authorizer(
        &self,
        authorizer: &AuthorizerConfiguration,
        conditions: MatchConditions,
    ) -> Result<Arc<dyn Authorizer>, Error> {
        Ok(match (authorizer.r#type.as_str(), &authorizer.webhook) {
            ("RBAC", _) => self.rbac.clone(),
            ("Node", _) => self.node.clone().ok_or(Error::NotAtStartup("Node"))?,
            ("ABAC", _) => self.abac.clone().ok_or(Error::NotAtStartup("ABAC"))?,
            ("AlwaysAllow", _) => Arc::new(AlwaysAllow),
            ("AlwaysDeny", _) => Arc::new(AlwaysDeny),
            (WEBHOOK, Some(webhook)) => {
                let route = self.route.clone();
                let options =
                    AccessWebhookOptions { route, ..AccessWebhookOptions::of_file(&authorizer.name, webhook) };
                let webhook = AccessWebhook::load(&options, &self.metrics)?;
                Arc::new(webhook.with_conditions(conditions))
            }
            (other, _) => return Err(Error::UnknownMode(other.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests;
