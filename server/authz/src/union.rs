//! The union of several authorizers.

use std::sync::Arc;

use request::user::SYSTEM_MASTERS;
use request::{BoxFuture, User};

use crate::attributes::AuthorizationAttributes;
use crate::authorizer::{Authorizer, Decision, UserRules};
use crate::standard::PrivilegedGroup;

/// Calls several authorizers in order (upstream: `authorization/union`).
pub struct UnionAuthorizer(Vec<Arc<dyn Authorizer>>);

impl UnionAuthorizer {
    /// Allows members of `system:masters`, then calls these authorizers.
    pub fn new(authorizers: impl IntoIterator<Item = Arc<dyn Authorizer>>) -> Self {
        let masters: Arc<dyn Authorizer> = Arc::new(PrivilegedGroup(SYSTEM_MASTERS));
        UnionAuthorizer(std::iter::once(masters).chain(authorizers).collect())
    }
}

impl Authorizer for UnionAuthorizer {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
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

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, UserRules> {
        Box::pin(async move {
            let mut all = UserRules::default();
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
    use crate::standard::{AlwaysAllow, AlwaysDeny};

    async fn decide(authorizers: Vec<Arc<dyn Authorizer>>, group: &str) -> Decision {
        let user = User::new("x", [group]);
        UnionAuthorizer::new(authorizers).authorize(&AuthorizationAttributes::path(&user, "get", "/x")).await
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
