//! Authorization: whether a user may perform a request (upstream: `apiserver/pkg/authorization`).
//!
//! Authorizers are called in order. The first one with an opinion decides; a request without any opinion is forbidden.

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
pub use metrics::{InstrumentedAuthorizer, Metrics};
pub use paths::AllowedPaths;
use request::user::SYSTEM_MASTERS;
use request::{BoxFuture, User};

use rbac::PolicyRule;
pub use webhook::AccessWebhook;

/// The decision of an authorizer, with its reason.
///
/// Clients see the reason of a denial; access reviews also show the reason of a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow(Arc<str>),
    Deny(Arc<str>),
    /// The next authorizer decides. The reason applies if no authorizer has an opinion.
    NoOpinion(Arc<str>),
}

impl Decision {
    /// Whether the request is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Decision::Allow(_))
    }

    /// The reason of the decision.
    pub fn reason(&self) -> &str {
        match self {
            Decision::Allow(reason) | Decision::Deny(reason) | Decision::NoOpinion(reason) => reason,
        }
    }
}

/// An authorizer (upstream: `authorizer.Authorizer`, `authorizer.RuleResolver`).
pub trait Authorizer: Send + Sync {
    /// Decides whether the user may perform the request that the attributes describe.
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Decision>;

    /// Lists the rules that apply to the user in a namespace, as far as they are enumerable.
    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, Rules>;
}

/// The rules that apply to a user (upstream: `SubjectRulesReviewStatus`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub rules: Vec<PolicyRule>,
    /// Whether more rules may apply.
    pub incomplete: bool,
    /// Errors of the rule resolution.
    pub errors: Vec<String>,
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}

/// Allows every request (upstream: `alwaysAllowAuthorizer`).
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

/// Allows no request (upstream: `alwaysDenyAuthorizer`).
///
/// As upstream, the decision is no opinion rather than a denial: later authorizers are called.
pub struct AlwaysDeny;

impl Authorizer for AlwaysDeny {
    fn authorize<'a>(&'a self, _: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        ready(Decision::NoOpinion("Everything is forbidden.".into()))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, Rules> {
        ready(Rules::default())
    }
}

/// Allows every request of the members of a group (upstream: `authorizerfactory.NewPrivilegedGroups`).
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

/// Calls several authorizers in order (upstream: `authorization/union`).
pub struct Union(Vec<Arc<dyn Authorizer>>);

impl Union {
    /// Allows members of `system:masters`, then calls these authorizers.
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
    async fn first_opinion_decides() {
        assert!(decide(vec![Arc::new(AlwaysDeny)], "system:masters").await.is_allowed());
        assert!(decide(vec![Arc::new(AlwaysDeny), Arc::new(AlwaysAllow)], "dev").await.is_allowed());
        assert_eq!(
            decide(vec![Arc::new(AlwaysDeny)], "dev").await,
            Decision::NoOpinion("Everything is forbidden.".into())
        );
        assert_eq!(decide(vec![], "dev").await, Decision::NoOpinion("".into()));
    }
}
