//! Authorizers without configuration (upstream: `authorizerfactory`).

use request::{BoxFuture, User};

use crate::attributes::AuthorizationAttributes;
use crate::authorizer::{Authorizer, Decision, UserRules, ready};
use crate::policy_rule::PolicyRule;

/// Allows every request (upstream: `alwaysAllowAuthorizer`).
pub struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn authorize<'a>(&'a self, _: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        ready(Decision::Allow("".into()))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, UserRules> {
        let all = PolicyRule::resources(&["*"], &["*"], &["*"]);
        ready(UserRules { rules: vec![all, PolicyRule::paths(&["*"], &["*"])], ..UserRules::default() })
    }
}

/// Allows no request (upstream: `alwaysDenyAuthorizer`).
///
/// As upstream, the decision is no opinion rather than a denial: later authorizers are called.
pub struct AlwaysDeny;

impl Authorizer for AlwaysDeny {
    fn authorize<'a>(&'a self, _: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        ready(Decision::NoOpinion("Everything is forbidden.".into()))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, UserRules> {
        ready(UserRules::default())
    }
}

/// Allows every request of the members of a group (upstream: `authorizerfactory.NewPrivilegedGroups`).
pub struct PrivilegedGroup(pub &'static str);

impl Authorizer for PrivilegedGroup {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        ready(match attributes.user.is_in(self.0) {
            true => Decision::Allow("".into()),
            false => Decision::NoOpinion("".into()),
        })
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, UserRules> {
        ready(UserRules::default())
    }
}
