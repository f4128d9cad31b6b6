//! Auditing: events that record the requests and their outcome (upstream: `apiserver/pkg/audit`).
//!
//! A [`Policy`] selects the audit level of a request. The [`AuditContext`] of a request collects data from every
//! part of the server and creates an event at each [`Stage`]. Events are sent to the configured [`Sink`]s. Without a
//! policy, auditing is disabled.

mod buffer;
mod context;
mod legacy;
mod level;
mod log;
mod object;
mod policy;
mod rotation;
mod sink;
mod source;
mod truncate;
mod webhook;

use std::sync::Arc;

use apimachinery::audit::v1::Event;
use options::{AuditMode, AuditOptions, Error};
use prometheus::Registry;
use tokio::sync::RwLock;

pub use context::AuditContext;
pub use level::{Level, Stage};
pub use policy::Policy;
pub use sink::Sink;

use buffer::Buffer;
use log::Log;
use sink::Metrics;
use truncate::Truncate;
use webhook::Webhook;

/// The version of events and policies.
const API_VERSION: &str = "audit.k8s.io/v1";

/// The policy and the sinks of audit events.
pub struct Audit {
    policy: Policy,
    backends: Vec<Backend>,
    metrics: Metrics,
    /// Read-locked while a background task processes an event; write-locked to wait for all such tasks.
    background: Arc<RwLock<()>>,
}

/// A sink and how failures of the sink are handled.
struct Backend {
    sink: Box<dyn Sink>,
    /// Whether a request is rejected if the sink does not accept its event.
    is_strict: bool,
}

impl Audit {
    /// Creates the configured audit log; `None` without a policy or without a sink.
    ///
    /// # Errors
    /// When the policy is invalid, or a file cannot be opened.
    pub fn new(options: &AuditOptions, registry: &Registry) -> Result<Option<Arc<Self>>, Error> {
        let metrics = Metrics::register(registry);
        let Some(policy) = options.policy_file.as_deref().map(Policy::load).transpose()? else { return Ok(None) };
        let mut backends = Vec::new();
        if let Some(options) = &options.log {
            let log = Log::open(options, metrics.clone())?;
            backends.push(Backend::new(log, &options.delivery, &metrics));
        }
        if let Some(options) = &options.webhook {
            let webhook = Webhook::load(options, metrics.clone())?;
            backends.push(Backend::new(webhook, &options.delivery, &metrics));
        }
        if backends.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Audit { policy, backends, metrics, background: Arc::default() })))
    }

    /// Sends an event to every sink. Returns whether the request may proceed.
    async fn process(&self, event: Event) -> bool {
        self.metrics.events.inc();
        let (event, mut accepted) = ([Arc::new(event)], true);
        for backend in &self.backends {
            accepted &= backend.sink.process(&event).await || !backend.is_strict;
        }
        accepted
    }

    /// Sends an event in a background task, because the response has been sent or the client has disconnected.
    fn process_in_background(self: &Arc<Self>, event: Event) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (audit, guard) = (self.clone(), self.background.clone().try_read_owned());
        runtime.spawn(async move {
            audit.process(event).await;
            drop(guard);
        });
    }

    /// Waits for all pending events and closes the sinks. Later events are lost.
    pub async fn close(&self) {
        let _all_processed = self.background.write().await;
        for backend in &self.backends {
            backend.sink.close().await;
        }
    }
}

impl Backend {
    fn new(sink: impl Sink + 'static, delivery: &options::AuditDelivery, metrics: &Metrics) -> Self {
        let sink: Box<dyn Sink> = match &delivery.limits {
            Some(limits) => Box::new(Truncate::new(sink, limits.clone(), metrics.clone())),
            None => Box::new(sink),
        };
        match &delivery.mode {
            AuditMode::Batch(batch) => {
                Backend { sink: Box::new(Buffer::start(sink, batch, metrics.clone())), is_strict: false }
            }
            AuditMode::Blocking => Backend { sink, is_strict: false },
            AuditMode::BlockingStrict => Backend { sink, is_strict: true },
        }
    }
}

#[cfg(test)]
mod tests;
