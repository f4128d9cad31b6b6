//! The handler chain: the filters in upstream's order around the inner handler (upstream:
//! `DefaultBuildHandlerChain`).

use audit::Audit;
use authn::Authentication;
use authz::Authorizer;
use console::Console;
use machinery::features;
use options::Options;
use request::Handler;
use std::sync::Arc;
use telemetry::metrics::{Metrics, WithMetrics};
use telemetry::traces::{Tracer, WithResourceSpan, WithTracing};

use crate::Error;
use crate::filters::{
    WithAudit, WithAuditId, WithAuthentication, WithAuthorization, WithConsolePages, WithConsoleSessions, WithCors,
    WithDefaultHeaders, WithDetachedWrites, WithFairness, WithGoaway, WithHttpLog, WithImpersonation, WithMaxInFlight,
    WithPanicRecovery, WithRequestInfo, WithRetryAfter, WithTimeout, WithWarnings, WithWatchTermination,
    WithWebSockets,
};
use flowcontrol::FlowControl;

use crate::shutdown::Shutdown;

/// The dependencies of the filters.
pub struct Chain<'a> {
    pub options: &'a Options,
    pub authentication: Authentication,
    pub authorizer: Arc<dyn Authorizer>,
    /// `None`: requests above the limits of the flags are rejected.
    pub flow_control: Option<FlowControl>,
    pub metrics: Metrics,
    pub shutdown: Shutdown,
    /// `None`: the console is not served.
    pub console: Option<Arc<Console>>,
    /// `None` without an audit policy.
    pub audit: Option<Arc<Audit>>,
    /// `None` disables tracing.
    pub tracer: Option<Tracer>,
}

impl Chain<'_> {
    /// Wraps the filters around a handler. Requests pass them from the bottom of this function to
    /// the top.
    ///
    /// # Errors
    /// A pattern of `--cors-allowed-origins` is invalid.
    pub fn around(self, handler: impl Handler + 'static) -> Result<Arc<dyn Handler>, Error> {
        let requests = &self.options.requests;
        let gate = |name| self.options.features.enabled(name);
        let parts = &self.metrics.parts;
        let access = self.metrics.access.clone();
        let handler = parts.part("authorization", WithResourceSpan(handler), |handler| {
            WithAuthorization::new(handler, Arc::clone(&self.authorizer), access.clone())
        });
        let handler: Box<dyn Handler> = match self.flow_control {
            Some(control) => Box::new(parts.part("priorityandfairness", handler, |handler| {
                WithFairness::new(handler, control, requests.request_timeout, &self.metrics)
            })),
            None => Box::new(WithMaxInFlight::new(handler, requests, &self.metrics)),
        };
        let constrained = gate(features::ConstrainedImpersonation);
        let name = if constrained { "constrainedimpersonation" } else { "impersonation" };
        let handler =
            parts.part(name, handler, |handler| WithImpersonation::new(handler, self.authorizer, constrained));
        let handler = parts.part("audit", handler, WithAudit);
        let handler = WithTracing::new(handler, self.tracer);
        let pages_authentication = self.authentication.clone();
        let close_unauthenticated = gate(features::UnauthenticatedHTTP2DOSMitigation);
        let handler = parts.part("authentication", handler, |handler| {
            WithAuthentication::new(handler, self.authentication, close_unauthenticated, access)
        });
        let handler = WithConsolePages::new(handler, self.console.clone(), &pages_authentication);
        let handler = WithCors::new(handler, &requests.cors_allowed_origins)?;
        let handler = WithWarnings(handler);
        let handler = WithDetachedWrites::new(handler, self.shutdown.clone());
        let handler = WithTimeout::new(handler, requests.request_timeout);
        let handler =
            WithWatchTermination::new(handler, self.shutdown.clone(), self.options.serving.shutdown_watch_grace);
        let handler = WithGoaway::new(handler, requests.goaway_chance);
        let handler = WithDefaultHeaders::new(handler, &requests.hsts_directives);
        let handler = WithMetrics::new(handler, self.metrics.requests);
        let handler: Box<dyn Handler> = match self.options.serving.shutdown_send_retry_after {
            true => Box::new(WithRetryAfter::new(handler, self.shutdown.clone())),
            false => Box::new(handler),
        };
        let handler = WithHttpLog(handler);
        let handler = WithWebSockets::new(handler, self.shutdown);
        let handler = WithConsoleSessions::new(WithRequestInfo(handler), self.console);
        let handler = WithPanicRecovery(handler);
        Ok(Arc::new(WithAuditId { inner: handler, audit: self.audit }))
    }
}
