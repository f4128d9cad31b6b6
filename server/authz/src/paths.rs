//! Paths that are allowed without authorization, such as health checks (upstream: `authorization/path`).

use request::{BoxFuture, User};

use crate::attributes::AuthorizationAttributes;
use crate::authorizer::{Authorizer, Decision, UserRules, ready};

/// Allowed paths; a trailing `*` matches any suffix.
pub struct AllowedPaths(pub Vec<String>);

impl AllowedPaths {
    fn has(&self, path: &str) -> bool {
        let path = path.trim_start_matches('/');
        self.0.iter().map(|allowed| allowed.trim_start_matches('/')).any(|allowed| match allowed.strip_suffix('*') {
            Some(beginning) => path.starts_with(beginning),
            None => path == allowed,
        })
    }
}

impl Authorizer for AllowedPaths {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        ready(match !attributes.is_resource_request && self.has(attributes.path) {
            true => Decision::Allow("".into()),
            false => Decision::NoOpinion("".into()),
        })
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, UserRules> {
        ready(UserRules::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn allows_configured_paths() {
        let (paths, user) = (AllowedPaths(vec!["/healthz".into(), "/debug/*".into()]), User::anonymous());
        for (path, expect) in [("/healthz", true), ("/healthz/etcd", false), ("/debug/x/y", true), ("/apis", false)] {
            let decision = paths.authorize(&AuthorizationAttributes::path(&user, "get", path)).await;
            assert_eq!(decision.is_allowed(), expect, "{path}");
        }
    }
}
