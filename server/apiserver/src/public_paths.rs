//! What the bootstrap roles `system:public-info-viewer` and `system:discovery` allow, until roles themselves are evaluated.

use serving::BoxFuture;
use serving::authorization::{Attributes, Authorizer, Decision};
use serving::user::{ALL_AUTHENTICATED, ALL_UNAUTHENTICATED};

/// Paths that everybody may read.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
/// Paths that everybody who is known may read; a star stands for any rest.
const DISCOVERY: [&str; 8] = ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", "/healthz/*", "/livez/*"];

/// See the module.
pub struct PublicPaths;

impl Authorizer for PublicPaths {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> BoxFuture<'a, Decision> {
        let known = attributes.user.is_in(ALL_AUTHENTICATED);
        let anybody = known || attributes.user.is_in(ALL_UNAUTHENTICATED);
        let reads = !attributes.is_resource_request && matches!(attributes.verb.as_ref(), "get" | "head");
        let allowed = reads
            && ((anybody && PUBLIC.contains(&attributes.path))
                || (known && DISCOVERY.iter().any(|p| covers(p, attributes.path))));
        let decision = if allowed { Decision::Allow("".into()) } else { Decision::NoOpinion("".into()) };
        Box::pin(std::future::ready(decision))
    }
}

fn covers(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == pattern,
    }
}
