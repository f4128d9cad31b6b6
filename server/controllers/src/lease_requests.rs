//! Recognizes requests of a kube-controller-manager that waits for the lease of the controllers.
//!
//! Upstream's leader election does not announce a candidate: it reads the lease every few seconds
//! until the lease is free. Only its user agent distinguishes these reads from others.

use std::sync::Arc;

use authz::{AuthorizationAttributes, Authorizer};
use http::header::USER_AGENT;
use request::{BoxFuture, Handler, Request, RequestExt, RequestInfo, Response, User};
use tokio::sync::Notify;

use crate::election::{LEASES, NAME, NAMESPACE};

/// The end of the user agent of clients of leader election (`resourcelock.NewFromKubeconfig`).
const AGENT: &str = "/leader-election";

/// Notifies the election when a waiting candidate reads the lease.
pub struct WithLeaseRequests {
    inner: Arc<dyn Handler>,
    authorizer: Arc<dyn Authorizer>,
    requests: Arc<Notify>,
}

impl WithLeaseRequests {
    /// Wraps a handler; `requests` is notified after each answer to a candidate.
    pub fn new(inner: Arc<dyn Handler>, authorizer: Arc<dyn Authorizer>, requests: Arc<Notify>) -> Self {
        WithLeaseRequests { inner, authorizer, requests }
    }
}

impl Handler for WithLeaseRequests {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        match candidate(&request) {
            None => self.inner.handle(request),
            Some(user) => Box::pin(async move {
                let response = self.inner.handle(request).await;
                if response.status().is_success() && may_take(&user, self.authorizer.as_ref()).await {
                    self.requests.notify_waiters();
                }
                response
            }),
        }
    }
}

/// The user of a request that reads the lease for leader election; `None` for other requests.
fn candidate(request: &Request) -> Option<Arc<User>> {
    let info = request.info().filter(|info| reads_lease(info))?;
    let agent = request.headers().get(USER_AGENT)?.to_str().ok()?;
    let is_object = info.subresource.is_empty() && agent.ends_with(AGENT);
    is_object.then(|| request.user().cloned()).flatten()
}

fn reads_lease(info: &RequestInfo) -> bool {
    info.verb == "get"
        && info.resource == LEASES.2
        && info.api_group == LEASES.0
        && info.namespace == NAMESPACE
        && info.name == NAME
}

/// Whether a user may update the lease. Only such a user can take it, and could end the work of the
/// controllers by an update as well.
async fn may_take(user: &User, authorizer: &dyn Authorizer) -> bool {
    let attributes = AuthorizationAttributes {
        namespace: NAMESPACE,
        version: LEASES.1,
        name: NAME,
        ..AuthorizationAttributes::resource(user, "update", LEASES.0, LEASES.2)
    };
    authorizer.authorize(&attributes).await.is_allowed()
}

#[cfg(test)]
mod tests {
    use authz::{AlwaysDeny, UnionAuthorizer};
    use request::testing::{ok, request_by};
    use request::user::SYSTEM_MASTERS;

    use super::*;

    const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager";
    const UPSTREAM: &str = "kube-controller-manager/v1.36.2 (linux/amd64) kubernetes/abc/leader-election";

    /// Whether a request of a member of a group notifies the election.
    async fn notifies(group: &str, method: &str, path: &str, agent: &str) -> bool {
        let requests = Arc::new(Notify::new());
        let authorizer = UnionAuthorizer::new([Arc::new(AlwaysDeny) as Arc<dyn Authorizer>]);
        let handler = WithLeaseRequests::new(Arc::new(ok()), Arc::new(authorizer), requests.clone());
        let mut request = request_by(User::new("jane", [group]), method, path);
        request.headers_mut().insert(USER_AGENT, agent.parse().unwrap());
        let notified = requests.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        handler.handle(request).await;
        futures_util::future::FutureExt::now_or_never(notified).is_some()
    }

    #[tokio::test]
    async fn only_candidates_that_may_take_the_lease_request_it() {
        assert!(notifies(SYSTEM_MASTERS, "GET", LEASE, UPSTREAM).await);
        assert!(!notifies("dev", "GET", LEASE, UPSTREAM).await, "a user without the right to update");
        assert!(!notifies(SYSTEM_MASTERS, "GET", LEASE, "kubectl/v1.36.2 (linux/amd64) kubernetes/abc").await);
        assert!(!notifies(SYSTEM_MASTERS, "PUT", LEASE, UPSTREAM).await, "a holder renews the lease");
        let others = ["/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", &LEASE.replace("manager", "x")[..]];
        for path in others {
            assert!(!notifies(SYSTEM_MASTERS, "GET", path, UPSTREAM).await, "{path}");
        }
        assert!(!notifies(SYSTEM_MASTERS, "GET", &LEASE.replace("kube-system", "default"), UPSTREAM).await);
        assert!(!notifies(SYSTEM_MASTERS, "GET", &LEASE.replace("coordination.k8s.io", "a.b"), UPSTREAM).await);
    }
}
