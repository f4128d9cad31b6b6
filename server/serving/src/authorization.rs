//! Who may do what (upstream: `apiserver/pkg/authorization`).
//!
//! Authorizers are asked in order; the first one that has an opinion decides, and without any opinion the answer is no.

mod abac;
pub mod attributes;
mod conditions;
mod configured;
mod metrics;
mod paths;
pub mod rbac;
mod validation;
mod webhook;

use std::sync::Arc;

pub use abac::Abac;
pub use attributes::{Attributes, Selectors};
pub(crate) use configured::load as load_configuration;
pub use configured::{ReloadableAuthorizer, StaticAuthorizers};
pub use metrics::{Counted, Metrics};
pub use paths::AllowedPaths;
use rbac::PolicyRule;
pub use webhook::AccessWebhook;

use crate::handler::BoxFuture;
use crate::user::{SYSTEM_MASTERS, User};

/// What an authorizer says, and why. The reason of a refusal is shown to the client, that of a permission to reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow(Arc<str>),
    Deny(Arc<str>),
    /// Somebody else has to say; the reason counts when nobody does.
    NoOpinion(Arc<str>),
}

impl Decision {
    /// Whether the request may go on.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Decision::Allow(_))
    }

    /// Why.
    pub fn reason(&self) -> &str {
        match self {
            Decision::Allow(reason) | Decision::Deny(reason) | Decision::NoOpinion(reason) => reason,
        }
    }
}

/// Who decides (upstream: `authorizer.Authorizer`, `authorizer.RuleResolver`).
pub trait Authorizer: Send + Sync {
    /// Whether the user of the attributes may do what they say.
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Decision>;

    /// What the user may do in a namespace, as far as that can be listed.
    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, Rules>;
}

/// What somebody may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub rules: Vec<PolicyRule>,
    /// Whether there may be more.
    pub incomplete: bool,
    /// What went wrong while they were collected.
    pub errors: Vec<String>,
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

/// Everybody may do everything.
pub struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn authorize<'a>(&'a self, _: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        ready(Decision::Allow("".into()))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, Rules> {
        let all = PolicyRule::resources(&["*"], &["*"], &["*"]);
        ready(Rules { rules: vec![all, PolicyRule::paths(&["*"], &["*"])], ..Rules::default() })
    }
}

/// Nobody may do anything. No opinion rather than a refusal, as upstream: later authorizers are asked.
pub struct AlwaysDeny;

impl Authorizer for AlwaysDeny {
    fn authorize<'a>(&'a self, _: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        ready(Decision::NoOpinion("Everything is forbidden.".into()))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, Rules> {
        ready(Rules::default())
    }
}

/// Members of a group may do everything (upstream: `authorizerfactory.NewPrivilegedGroups`).
pub struct PrivilegedGroup(pub &'static str);

impl Authorizer for PrivilegedGroup {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        ready(match attributes.user.is_in(self.0) {
            true => Decision::Allow("".into()),
            false => Decision::NoOpinion("".into()),
        })
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, Rules> {
        ready(Rules::default())
    }
}

/// Several authorizers in order (upstream: `authorization/union`).
pub struct Union(Vec<Arc<dyn Authorizer>>);

impl Union {
    /// Members of `system:masters` first, then these.
    pub fn new(authorizers: impl IntoIterator<Item = Arc<dyn Authorizer>>) -> Self {
        let masters: Arc<dyn Authorizer> = Arc::new(PrivilegedGroup(SYSTEM_MASTERS));
        Union(std::iter::once(masters).chain(authorizers).collect())
    }
}

impl Authorizer for Union {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            let mut reasons = Vec::new();
            for authorizer in &self.0 {
                match authorizer.authorize(attributes).await {
                    Decision::NoOpinion(reason) if reason.is_empty() => {}
                    Decision::NoOpinion(reason) => reasons.push(reason),
                    decided => return decided,
                }
            }
            Decision::NoOpinion(reasons.join("\n").into())
        })
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, Rules> {
        Box::pin(async move {
            let mut all = Rules::default();
            for authorizer in &self.0 {
                let rules = authorizer.rules(user, namespace).await;
                all.rules.extend(rules.rules);
                all.incomplete |= rules.incomplete;
                all.errors.extend(rules.errors);
            }
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn decide(authorizers: Vec<Arc<dyn Authorizer>>, group: &str) -> Decision {
        let user = User::new("x", [group]);
        Union::new(authorizers).authorize(&Attributes::path(&user, "get", "/x")).await
    }

    #[tokio::test]
    async fn the_first_opinion_decides() {
        assert!(decide(vec![Arc::new(AlwaysDeny)], "system:masters").await.is_allowed());
        assert!(decide(vec![Arc::new(AlwaysDeny), Arc::new(AlwaysAllow)], "dev").await.is_allowed());
        assert_eq!(
            decide(vec![Arc::new(AlwaysDeny)], "dev").await,
            Decision::NoOpinion("Everything is forbidden.".into())
        );
        assert_eq!(decide(vec![], "dev").await, Decision::NoOpinion("".into()));
    }
}
