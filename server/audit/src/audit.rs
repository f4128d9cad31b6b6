//! The audit log of a server: its policy and its sinks.

use std::sync::Arc;

use apimachinery::audit::v1::Event;
use options::{AuditDelivery, AuditMode, AuditOptions, Error};
use prometheus::Registry;
use tokio::sync::RwLock;

use crate::buffer::Buffer;
use crate::log::Log;
use crate::policy::Policy;
use crate::sink::{Metrics, Sink};
use crate::truncate::Truncate;
use crate::webhook::WebhookBackend;

/// The policy and the sinks of audit events.
pub struct Audit {
    pub(crate) policy: Policy,
    backends: Vec<Backend>,
    pub(crate) metrics: Metrics,
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
            let webhook = WebhookBackend::load(options, metrics.clone())?;
            backends.push(Backend::new(webhook, &options.delivery, &metrics));
        }
        if backends.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Audit { policy, backends, metrics, background: Arc::default() })))
    }

    /// Sends an event to every sink. Returns whether the request may proceed.
    pub(crate) async fn process(&self, event: Event) -> bool {
        self.metrics.events.inc();
        let (event, mut accepted) = ([Arc::new(event)], true);
        for backend in &self.backends {
            accepted &= backend.sink.process(&event).await || !backend.is_strict;
        }
        accepted
    }

    /// Sends an event in a background task, because the response has been sent or the client has disconnected.
    pub(crate) fn process_in_background(self: &Arc<Self>, event: Event) {
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
    fn new(sink: impl Sink + 'static, delivery: &AuditDelivery, metrics: &Metrics) -> Self {
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
