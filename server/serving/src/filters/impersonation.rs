//! Lets who may do so act as somebody else (upstream: `endpoints/filters/impersonation`, KEP-5284).
//!
//! There are two kinds of right. The old one, the verb `impersonate`, lets somebody do everything the other one may. The constrained ones say
//! whom (`impersonate:user-info` ...) and for what (`impersonate-on:user-info:list` ...). The constrained ones are tried first.

mod headers;
mod modes;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use machinery::status::Status;

use crate::authentication::remove_impersonation;
use crate::authorization::{Attributes, Authorizer, Selectors};
use crate::handler::{BoxFuture, Handler, Request, RequestExt, Response};
use crate::metrics::credentials;
use crate::request_info::RequestInfo;
use crate::respond;
use crate::user::{ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, User};
use modes::{Demand, Mode};

/// How many users' modes are remembered.
const REMEMBERED: usize = 1024;

/// Replaces the user by the one in the `Impersonate-*` headers, if an authorizer allows that.
pub struct WithImpersonation<H> {
    inner: H,
    authorizer: Arc<dyn Authorizer>,
    constrained: bool,
    /// The mode that last worked for a user. It is tried first, so its refusal is the one that the user is told.
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

    fn remember(&self, requestor: &User, mode: Mode) {
        let Ok(mut last) = self.last.lock() else { return };
        if last.get(requestor) != Some(&mode) {
            if last.len() >= REMEMBERED {
                last.clear();
            }
            last.insert(requestor.clone(), mode);
        }
    }

    /// Who the requestor acts as, and by which right; or the first refusal.
    async fn impersonate(&self, requestor: &User, wanted: &User, info: &RequestInfo) -> Result<(User, Mode), Status> {
        let mut refusal = None;
        for mode in self.modes(requestor) {
            if !mode.applies(requestor, wanted) {
                continue;
            }
            match self.check(mode, requestor, wanted, info).await {
                Ok(()) => {
                    self.remember(requestor, mode);
                    return Ok((with_group_of_proof(mode.becomes(wanted)), mode));
                }
                Err(status) => refusal = refusal.or(Some(status)),
            }
        }
        Err(refusal.unwrap_or_else(|| Status::internal("all impersonation modes failed")))
    }

    async fn check(&self, mode: Mode, requestor: &User, wanted: &User, info: &RequestInfo) -> Result<(), Status> {
        if mode != Mode::Legacy {
            let action = Attributes {
                verb: format!("impersonate-on:{}:{}", mode.name(), info.verb).into(),
                selectors: Selectors::default(),
                ..Attributes::of_request(requestor, info)
            };
            self.demand(mode, &action).await?;
        }
        for demand in mode.demands(requestor, wanted) {
            match demand {
                Demand::Right(identity) => self.demand(mode, &identity).await?,
                Demand::Never(identity, why) => return Err(identity.forbidden(&why)),
                Demand::Instead(all, each) => {
                    if self.demand(mode, &all).await.is_err() {
                        for identity in each {
                            self.demand(mode, &identity).await?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    async fn demand(&self, mode: Mode, attributes: &Attributes<'_>) -> Result<(), Status> {
        let began = Instant::now();
        let decision = self.authorizer.authorize(attributes).await;
        credentials::impersonation_checked(mode.label(), decision.is_allowed(), began.elapsed());
        if decision.is_allowed() { Ok(()) } else { Err(attributes.forbidden(decision.reason())) }
    }
}

/// Adds the group that tells whether the user is known, as authentication would have.
fn with_group_of_proof(mut user: User) -> User {
    let group = if user.name == ANONYMOUS { ALL_UNAUTHENTICATED } else { ALL_AUTHENTICATED };
    let told = user.is_in(group) || (user.name != ANONYMOUS && user.is_in(ALL_UNAUTHENTICATED));
    if !told {
        user.groups.push(group.into());
    }
    user
}

impl<H: Handler> Handler for WithImpersonation<H> {
    fn handle(&self, mut request: Request) -> BoxFuture<'_, Response> {
        let wanted = match headers::wanted(request.headers()) {
            Ok(None) => {
                // Without a name there is nothing to impersonate; a backend may read the headers differently.
                remove_impersonation(request.headers_mut());
                return self.inner.handle(request);
            }
            Ok(Some(wanted)) => wanted,
            Err(wanted) => {
                let status = Status::bad_request(headers::nobody_to_impersonate(&wanted, self.constrained));
                return Box::pin(std::future::ready(respond::refusal(&request, &status)));
            }
        };
        Box::pin(async move {
            let (Some(requestor), Some(info)) = (request.user().cloned(), request.info().cloned()) else {
                let status = Status::internal("no user found for request");
                return respond::refusal(&request, &status);
            };
            let (trail, began) = (request.trail(), Instant::now());
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
