//! Role-based access control (upstream: `plugin/pkg/auth/authorizer/rbac`).
//!
//! A request is allowed if a rule of one of the user's roles covers it.

mod coverage;
mod policy;
mod source;

use std::ops::ControlFlow;

use request::{BoxFuture, User};

use crate::attributes::AuthorizationAttributes;
use crate::authorizer::{Authorizer, Decision, UserRules, ready};
pub use coverage::{Incomparable, describe_missing, missing};
pub use policy::RbacPolicy;
pub use source::{Binding, Grant, NoRoles, RoleRef, RuleSource, Subject};

/// Allows requests that a rule covers; has no opinion on other requests (upstream: `RBACAuthorizer`).
pub struct RbacAuthorizer<S>(pub S);

impl<S: RuleSource> RbacAuthorizer<S> {
    /// Decides synchronously.
    pub fn decide(&self, attributes: &AuthorizationAttributes<'_>) -> Decision {
        let mut allowed = None;
        let mut errors: Vec<String> = Vec::new();
        self.0.visit(attributes.user, attributes.namespace, &mut |grant| {
            match grant.rules {
                Some(rules) if rules.iter().any(|rule| rule.allows(attributes)) => {
                    allowed = Some(format!("RBAC: allowed by {}", grant.describe()));
                    return ControlFlow::Break(());
                }
                Some(_) => {}
                None => errors.push(grant.missing_role()),
            }
            ControlFlow::Continue(())
        });
        errors.sort();
        errors.dedup();
        match (allowed, errors.as_slice()) {
            (Some(reason), _) => Decision::Allow(reason.into()),
            (None, []) => Decision::NoOpinion("".into()),
            (None, [one]) => Decision::NoOpinion(format!("RBAC: {one}").into()),
            (None, more) => Decision::NoOpinion(format!("RBAC: [{}]", more.join(", ")).into()),
        }
    }
}

impl<S: RuleSource> Authorizer for RbacAuthorizer<S> {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        ready(self.decide(attributes))
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, UserRules> {
        ready(self.0.rules_for(user, namespace))
    }
}

#[cfg(test)]
mod tests;
