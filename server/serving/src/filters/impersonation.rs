//! User impersonation (upstream: `endpoints/filters/impersonation`, KEP-5284).
//!
//! There are two kinds of permission. The legacy verb `impersonate` allows all actions as the
//! impersonated user. Constrained permissions name the user (`impersonate:user-info` ...) and the
//! action (`impersonate-on:user-info:list` ...). The constrained ones are checked first.

mod headers;
mod modes;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use audit::AuditContext;
use authn::remove_impersonation;
use authz::{AuthorizationAttributes, Authorizer, Selectors};
use machinery::status::Status;
use request::user::{ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS};
use request::{BoxFuture, Handler, Request, RequestExt, RequestInfo, Response, User, respond};
use telemetry::metrics::credentials;

use modes::{Mode, Requirement};

/// The number of users for which the last mode is cached.
const MODE_CACHE_SIZE: usize = 1024;

/// Replaces the user by the one in the `Impersonate-*` headers, if an authorizer allows it.
pub struct WithImpersonation<H> {
    inner: H,
    authorizer: Arc<dyn Authorizer>,
    constrained: bool,
    /// The mode that last succeeded for a user. It is tried first, so its error is the one that the
    /// client gets.
    last: Mutex<HashMap<User, Mode>>,
}

impl<H> WithImpersonation<H> {
    /// `constrained` is the gate `ConstrainedImpersonation`.
    pub fn new(inner: H, authorizer: Arc<dyn Authorizer>, constrained: bool) -> Self {
        WithImpersonation { inner, authorizer, constrained, last: Mutex::default() }
    }

    /// The modes to try, in order.
    fn modes(&self, requestor: &User) -> Vec<Mode> {
        if !self.constrained {
            return vec![Mode::Legacy];
        }
        let last = self.last.lock().ok().and_then(|last| last.get(requestor).copied());
        last.into_iter().chain(Mode::ALL.into_iter().filter(|mode| Some(*mode) != last)).collect()
    }

    fn cache_mode(&self, requestor: &User, mode: Mode) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.get(requestor) != Some(&mode) {
            if last.len() >= MODE_CACHE_SIZE {
                last.clear();
            }
            last.insert(requestor.clone(), mode);
        }
    }

    /// Returns the impersonated user and the mode that allows it.
    ///
    /// # Errors
    /// No mode allows it; the first error is returned.
    async fn impersonate(&self, requestor: &User, wanted: &User, info: &RequestInfo) -> Result<(User, Mode), Status> {
        let mut refusal = None;
        for mode in self.modes(requestor) {
            if !mode.applies(requestor, wanted) {
                continue;
            }
            match self.check(mode, requestor, wanted, info).await {
                Ok(()) => {
                    self.cache_mode(requestor, mode);
                    return Ok((with_authentication_group(mode.impersonated_user(wanted)), mode));
                }
                Err(status) => refusal = refusal.or(Some(status)),
            }
        }
        Err(refusal.unwrap_or_else(|| Status::internal("all impersonation modes failed")))
    }

    async fn check(&self, mode: Mode, requestor: &User, wanted: &User, info: &RequestInfo) -> Result<(), Status> {
        if mode != Mode::Legacy {
            let action = AuthorizationAttributes {
                verb: format!("impersonate-on:{}:{}", mode.name(), info.verb).into(),
                selectors: Selectors::default(),
                ..AuthorizationAttributes::of_request(requestor, info)
            };
            self.require(mode, &action).await?;
        }
        for requirement in mode.requirements(requestor, wanted) {
            match requirement {
                Requirement::Permission(identity) => self.require(mode, &identity).await?,
                Requirement::Forbidden(identity, why) => return Err(identity.forbidden(&why)),
                Requirement::AllOrEach(all, each) => {
                    if self.require(mode, &all).await.is_err() {
                        for identity in each {
                            self.require(mode, &identity).await?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    async fn require(&self, mode: Mode, attributes: &AuthorizationAttributes<'_>) -> Result<(), Status> {
        let began = Instant::now();
        let decision = self.authorizer.authorize(attributes).await;
        credentials::impersonation_checked(mode.label(), decision.is_allowed(), began.elapsed());
        if decision.is_allowed() { Ok(()) } else { Err(attributes.forbidden(decision.reason())) }
    }
}

/// Adds the group of authenticated or of unauthenticated users, as authentication does.
fn with_authentication_group(mut user: User) -> User {
    let group = if user.name == ANONYMOUS { ALL_UNAUTHENTICATED } else { ALL_AUTHENTICATED };
    let is_present = user.is_in(group) || (user.name != ANONYMOUS && user.is_in(ALL_UNAUTHENTICATED));
    if !is_present {
        user.groups.push(group.into());
    }
    user
}

impl<H: Handler> Handler for WithImpersonation<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let wanted = match headers::wanted(request.headers()) {
            Ok(None) => {
                // Without a user there is nothing to impersonate. A backend may interpret the
                // headers differently, so they are removed.
                remove_impersonation(request.headers_mut());
                return self.inner.handle(request);
            }
            Ok(Some(wanted)) => wanted,
            Err(wanted) => {
                let status = Status::bad_request(headers::missing_user_message(&wanted, self.constrained));
                return Box::pin(std::future::ready(respond::refusal(&request, &status)));
            }
        };
        Box::pin(async move {
            let (Some(requestor), Some(info)) = (request.user().cloned(), request.info().cloned()) else {
                let status = Status::internal("no user found for request");
                return respond::refusal(&request, &status);
            };
            let (trail, began) = (AuditContext::of(request.extensions()), Instant::now());
            let decided = trail.timed("impersonation", self.impersonate(&requestor, &wanted, &info)).await;
            credentials::impersonated(decided.as_ref().map_or("", |(_, mode)| mode.label()), began.elapsed());
            match decided {
                Ok((user, mode)) => {
                    trail.impersonate(&user, &mode.constraint());
                    tracing::debug!(requestor = requestor.name, user = user.name, "impersonating");
                    remove_impersonation(request.headers_mut());
                    request.extensions_mut().insert(Arc::new(user));
                    self.inner.handle(request).await
                }
                Err(status) => respond::refusal(&request, &status),
            }
        })
    }
}

#[cfg(test)]
mod tests;
