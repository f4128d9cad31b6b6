//! Rejects requests that are not authorized (upstream: `WithAuthorization`).

use std::sync::Arc;
use std::time::Instant;

use audit::{AuditContext, Level};
use authz::{AuthorizationAttributes, Authorizer, Decision};
use machinery::status::Status;
use request::{BoxFuture, Handler, Request, RequestExt, Response, respond};
use telemetry::metrics::AccessMetrics;

/// The audit annotations with the decision and its reason.
const DECISION: &str = "authorization.k8s.io/decision";
const REASON: &str = "authorization.k8s.io/reason";

/// Replies 403 unless an authorizer allows the request.
pub struct WithAuthorization<H> {
    inner: H,
    authorizer: Arc<dyn Authorizer>,
    metrics: AccessMetrics,
}

impl<H> WithAuthorization<H> {
    /// Creates the filter with this authorizer.
    pub fn new(inner: H, authorizer: Arc<dyn Authorizer>, metrics: AccessMetrics) -> Self {
        WithAuthorization { inner, authorizer, metrics }
    }
}

impl<H: Handler> Handler for WithAuthorization<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(async move {
            let (Some(user), Some(info)) = (request.user().cloned(), request.info().cloned()) else {
                let status = Status::internal("no user or request info found in the request's context");
                return respond::failure(&request, &status);
            };
            let attributes = AuthorizationAttributes::of_request(&user, &info);
            let (trail, began) = (AuditContext::of(request.extensions()), Instant::now());
            let decision = trail.timed("authorization", self.authorizer.authorize(&attributes)).await;
            let (verdict, outcome) = match &decision {
                Decision::Allow(_) => ("allow", &self.metrics.allowed),
                Decision::Deny(_) => ("forbid", &self.metrics.denied),
                Decision::NoOpinion(_) => ("forbid", &self.metrics.no_opinion),
            };
            outcome.observe(began.elapsed());
            trail.annotate_from(Level::Metadata, DECISION, || verdict.to_owned());
            trail.annotate_from(Level::Metadata, REASON, || decision.reason().to_owned());
            if decision.is_allowed() {
                return self.inner.handle(request).await;
            }
            tracing::debug!(user = user.name, path = info.path, reason = decision.reason(), "forbidden");
            respond::refusal(&request, &attributes.forbidden(decision.reason()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use authz::{AlwaysDeny, UnionAuthorizer};
    use request::User;
    use request::testing::{failure, ok, request, request_by};
    use telemetry::metrics::Metrics;

    #[tokio::test]
    async fn rejects_unauthorized_requests() {
        let filter = WithAuthorization::new(
            ok(),
            Arc::new(UnionAuthorizer::new([Arc::new(AlwaysDeny) as Arc<dyn Authorizer>])),
            Metrics::default().access,
        );
        let by = |group: &str| request_by(User::new("alice", [group]), "GET", "/api/v1/namespaces");
        assert_eq!(failure(filter.handle(by("system:masters")).await).await.0, 200);
        let message = r#"namespaces is forbidden: User "alice" cannot list resource "namespaces" in API group "" at the cluster scope: Everything is forbidden."#;
        assert_eq!(failure(filter.handle(by("dev")).await).await, (403, message.into()));
        assert_eq!(failure(filter.handle(request("GET", "/")).await).await.0, 500);
    }
}
