//! Authenticates requests; replies 401 to invalid credentials (upstream: `WithAuthentication`).

use std::sync::Arc;
use std::time::Instant;

use audit::AuditContext;
use authn::{Authentication, AuthenticationError};
use http::Version;
use machinery::status::Status;
use request::user::{ALL_UNAUTHENTICATED, ANONYMOUS};
use request::{BoxFuture, Handler, Peer, Request, RequestExt, Response, User};
use telemetry::logging::LogLimit;
use telemetry::metrics::AccessMetrics;

use super::audit::reject;

/// Puts the [`request::User`] into the extensions, or replies 401.
pub struct WithAuthentication<H> {
    inner: H,
    authentication: Authentication,
    close_unauthenticated: bool,
    metrics: AccessMetrics,
    /// Limits the log lines of failures, because clients control their rate.
    failures: LogLimit,
}

impl<H> WithAuthentication<H> {
    /// `close_unauthenticated` closes the HTTP/2 connection of an unauthenticated client after each
    /// request. Otherwise one connection could carry many requests (the gate
    /// `UnauthenticatedHTTP2DOSMitigation`).
    pub fn new(inner: H, authentication: Authentication, close_unauthenticated: bool, metrics: AccessMetrics) -> Self {
        WithAuthentication { inner, authentication, close_unauthenticated, metrics, failures: LogLimit::default() }
    }

    fn count(&self, verdict: &Result<Option<Arc<User>>, AuthenticationError>, began: Instant) {
        let outcome = match verdict {
            Ok(Some(user)) => {
                self.metrics.count_user(&user.name);
                &self.metrics.authenticated
            }
            Ok(None) => &self.metrics.unauthenticated,
            Err(_) => &self.metrics.authentication_failed,
        };
        outcome.observe(began.elapsed());
    }

    fn close_unauthenticated_peer(&self, request: &Request) {
        if self.close_unauthenticated
            && request.version() == Version::HTTP_2
            && let Some(peer) = request.extensions().get::<Arc<Peer>>()
        {
            peer.close();
        }
    }
}

/// Whether the user is anonymous (upstream: `isAnonymousUser`).
fn is_anonymous(user: &User) -> bool {
    user.name == ANONYMOUS || user.is_in(ALL_UNAUTHENTICATED)
}

impl<H: Handler> Handler for WithAuthentication<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let (trail, began) = (AuditContext::of(&parts.extensions), Instant::now());
            let verdict = trail.timed("authentication", self.authentication.authenticate(&mut parts)).await;
            self.count(&verdict, began);
            let mut request = Request::from_parts(parts, body);
            match verdict {
                Ok(Some(user)) => {
                    match request.extensions().get::<Arc<Peer>>() {
                        _ if is_anonymous(&user) => self.close_unauthenticated_peer(&request),
                        Some(peer) => peer.set_authenticated(),
                        None => {}
                    }
                    request.extensions_mut().insert(user);
                    return self.inner.handle(request).await;
                }
                Ok(None) => {}
                Err(why) => {
                    if let Some(unlogged) = self.failures.admit() {
                        let path = request.info().map(|i| i.path.as_str());
                        tracing::warn!(path, %why, unlogged, "unable to authenticate the request");
                    }
                }
            }
            self.close_unauthenticated_peer(&request);
            reject(request, &Status::unauthorized("Unauthorized")).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use authn::{Anonymous, AudienceAgnostic, TokenFile};
    use request::testing::{echo_user, request, seen};
    use telemetry::metrics::Metrics;

    async fn answer(anonymous: bool, authorization: Option<&str>) -> (u16, String) {
        let tokens = TokenFile::parse("alicetoken,alice,uid-alice,dev").unwrap();
        let tokens = AudienceAgnostic { inner: tokens, audiences: vec!["api".into()] };
        let anonymous = if anonymous { Anonymous::Enabled } else { Anonymous::Disabled };
        let authentication = Authentication::new(anonymous, vec!["api".into()]).with_tokens(Arc::new(tokens));
        let filter = WithAuthentication::new(echo_user(), authentication, true, Metrics::default().access);
        let mut request = request("GET", "/api");
        if let Some(value) = authorization {
            request.headers_mut().insert("authorization", value.parse().unwrap());
        }
        seen(filter.handle(request).await).await
    }

    #[tokio::test]
    async fn authenticates_by_token_or_as_anonymous() {
        assert_eq!(
            answer(true, Some("Bearer alicetoken")).await,
            (200, r#"alice ["dev", "system:authenticated"] uid-alice"#.into())
        );
        assert_eq!(answer(true, None).await, (200, r#"system:anonymous ["system:unauthenticated"] "#.into()));
        let body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n";
        assert_eq!(answer(true, Some("Bearer wrong")).await, (401, body.into()));
        assert_eq!(answer(false, None).await, (401, body.into()));
    }
}
