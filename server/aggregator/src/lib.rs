//! Requests for other API servers: aggregated ones (upstream: `kube-aggregator`) and peers
//! (upstream: `apiserver/pkg/util/peerproxy`). Requests are proxied, and discovery includes the
//! resources of those servers.
//!
//! [`endpoints::Registrations`] has the registered servers. This crate does not depend on
//! APIServices or Services.

mod aggregated_servers;
mod discovery;
mod error;
mod legacy;
mod peers;
mod proxy;
mod task_map;

use std::sync::Arc;

use endpoints::Discovery;
use request::{BoxFuture, Handler, Request, RequestExt, Response};

use crate::proxy::ProxyHandler;
pub use aggregated_servers::AggregatedServers;
pub use discovery::follow;
pub use error::Error;
pub use peers::{PeerProxy, WithPeers};
pub use task_map::TaskMap;

/// Proxies requests for aggregated group versions, and delegates others to the next server.
pub struct Aggregator {
    discovery: Arc<Discovery>,
    proxy: ProxyHandler,
    next: Arc<dyn Handler>,
}

impl Aggregator {
    /// Creates an aggregator in front of these servers. `reject_redirects` rejects redirects of
    /// aggregated servers (CVE-2022-3172).
    pub fn new(
        discovery: Arc<Discovery>,
        backends: Arc<AggregatedServers>,
        reject_redirects: bool,
        next: Arc<dyn Handler>,
    ) -> Self {
        Aggregator { discovery, proxy: ProxyHandler { backends, reject_redirects }, next }
    }
}

impl Handler for Aggregator {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let registered = self.discovery.registrations().current();
        let (group, version) = group_version(request.path()).unwrap_or_default();
        match registered.backend(group, version).cloned() {
            Some(backend) => Box::pin(async move { self.proxy.proxy_request(&backend, request).await }),
            None => self.next.handle(request),
        }
    }
}

/// Parses the group and version of a path below a group version.
fn group_version(path: &str) -> Option<(&str, &str)> {
    let path = path.strip_prefix("/openapi/v3").unwrap_or(path);
    let mut parts = path.strip_prefix('/')?.splitn(4, '/');
    match (parts.next()?, parts.next()?) {
        ("api", version) => Some(("", version)),
        ("apis", group) => Some((group, parts.next().filter(|version| !version.is_empty())?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_group_version() {
        for (path, expect) in [
            ("/apis/a.b/v1", Some(("a.b", "v1"))),
            ("/apis/a.b/v1/namespaces/x/things", Some(("a.b", "v1"))),
            ("/openapi/v3/apis/a.b/v1", Some(("a.b", "v1"))),
            ("/api/v1/pods", Some(("", "v1"))),
            ("/apis/a.b", None),
            ("/apis/a.b/", None),
            ("/apis", None),
            ("/version", None),
        ] {
            assert_eq!(group_version(path), expect, "{path}");
        }
    }
}
