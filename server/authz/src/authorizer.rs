//! The trait of authorizers, and their decisions.

use std::sync::Arc;

use request::{BoxFuture, User};

use crate::attributes::AuthorizationAttributes;
use crate::policy_rule::PolicyRule;

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
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision>;

    /// Lists the rules that apply to the user in a namespace, as far as they are enumerable.
    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, UserRules>;
}

/// The rules that apply to a user (upstream: `SubjectRulesReviewStatus`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserRules {
    pub rules: Vec<PolicyRule>,
    /// Whether more rules may apply.
    pub incomplete: bool,
    /// Errors of the rule resolution.
    pub errors: Vec<String>,
}

/// A future that is ready.
pub(crate) fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    Box::pin(std::future::ready(value))
}
