//! What other API servers serve, behind this one (upstream: `kube-aggregator`) or beside it (upstream: `apiserver/pkg/util/peerproxy`): requests
//! are passed on, and what those servers serve is shown in discovery as if it were served here.
//!
//! Who serves what is for [`endpoints::Registrations`] to say; nothing here knows APIServices or Services by name.

mod backends;
mod discovery;
mod legacy;
mod peers;
mod proxy;
mod task_map;

use std::sync::Arc;

use endpoints::Discovery;
use serving::{BoxFuture, Handler, Request, RequestExt, Response};

use crate::proxy::Proxy;
pub use backends::Backends;
pub use discovery::follow;
pub use peers::{Peers, WithPeers};
pub use task_map::TaskMap;

/// Passes requests for aggregated group versions on, and hands all others to the next server.
pub struct Aggregator {
    discovery: Arc<Discovery>,
    proxy: Proxy,
    next: Arc<dyn Handler>,
}

impl Aggregator {
    /// An aggregator before these servers. `reject_redirects` keeps aggregated servers from sending clients elsewhere (CVE-2022-3172).
    pub fn new(
        discovery: Arc<Discovery>,
        backends: Arc<Backends>,
        reject_redirects: bool,
        next: Arc<dyn Handler>,
    ) -> Self {
        Aggregator { discovery, proxy: Proxy { backends, reject_redirects }, next }
    }
}

impl Handler for Aggregator {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let registered = self.discovery.registrations().current();
        let (group, version) = group_version(request.path()).unwrap_or_default();
        match registered.backend(group, version).cloned() {
            Some(backend) => Box::pin(async move { self.proxy.pass_on(&backend, request).await }),
            None => self.next.handle(request),
        }
    }
}

/// The group and version that a path is below.
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
