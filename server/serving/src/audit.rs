//! The audit log: who did what, recorded as events in the order of what happens to a request (upstream: `apiserver/pkg/audit`).
//!
//! A [`Policy`] decides how much is recorded of a request. The [`AuditContext`] of a request collects what is known of it, from every part of the
//! server, and makes an event of that at each [`Stage`]. Events go to the [`Sink`]s of the options. Without a policy nothing of this is there.

mod buffer;
mod context;
mod legacy;
mod level;
mod log;
mod object;
mod policy;
mod rotation;
mod sink;
mod truncate;
mod webhook;

use std::sync::Arc;

use apimachinery::audit::v1::Event;
use prometheus::Registry;
use tokio::sync::RwLock;

pub use context::AuditContext;
pub use level::{Level, Stage};
pub use policy::Policy;
pub use sink::Sink;

use crate::Error;
use crate::options::{AuditMode, AuditOptions};
use buffer::Buffer;
use log::Log;
use sink::Metrics;
use truncate::Truncate;
use webhook::Webhook;

/// The version of events and policies.
const API_VERSION: &str = "audit.k8s.io/v1";

/// Where events go, and which.
pub struct Audit {
    policy: Policy,
    outlets: Vec<Outlet>,
    metrics: Metrics,
    /// Read by events that nobody waits for; to write means that none is under way.
    late: Arc<RwLock<()>>,
}

struct Outlet {
    sink: Box<dyn Sink>,
    /// Whether a request is refused when its event is not taken.
    is_strict: bool,
}

impl Audit {
    /// The audit log of the options; none without a policy, or when there is nowhere to write to.
    ///
    /// # Errors
    /// When the policy is wrong, or a file cannot be opened.
    pub fn new(options: &AuditOptions, registry: &Registry) -> Result<Option<Arc<Self>>, Error> {
        let metrics = Metrics::register(registry);
        let Some(policy) = options.policy_file.as_deref().map(Policy::load).transpose()? else { return Ok(None) };
        let mut outlets = Vec::new();
        if let Some(options) = &options.log {
            let log = Log::open(options, metrics.clone())?;
            outlets.push(Outlet::new(log, &options.delivery, &metrics));
        }
        if let Some(options) = &options.webhook {
            let webhook = Webhook::load(options, metrics.clone())?;
            outlets.push(Outlet::new(webhook, &options.delivery, &metrics));
        }
        if outlets.is_empty() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Audit { policy, outlets, metrics, late: Arc::default() })))
    }

    /// Hands an event to every sink; whether its request may go on.
    async fn process(&self, event: Event) -> bool {
        self.metrics.events.inc();
        let (event, mut taken) = ([Arc::new(event)], true);
        for outlet in &self.outlets {
            taken &= outlet.sink.process(&event).await || !outlet.is_strict;
        }
        taken
    }

    /// Hands on an event that nobody waits for: its request has been answered, or its client went away.
    fn process_late(self: &Arc<Self>, event: Event) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (audit, under_way) = (self.clone(), self.late.clone().try_read_owned());
        runtime.spawn(async move {
            audit.process(event).await;
            drop(under_way);
        });
    }

    /// Hands everything on that is still under way. Later events are lost.
    pub async fn close(&self) {
        let _none_under_way = self.late.write().await;
        for outlet in &self.outlets {
            outlet.sink.close().await;
        }
    }
}

impl Outlet {
    fn new(sink: impl Sink + 'static, delivery: &crate::options::AuditDelivery, metrics: &Metrics) -> Self {
        let sink: Box<dyn Sink> = match &delivery.limits {
            Some(limits) => Box::new(Truncate::new(sink, limits.clone(), metrics.clone())),
            None => Box::new(sink),
        };
        match &delivery.mode {
            AuditMode::Batch(batch) => {
                Outlet { sink: Box::new(Buffer::start(sink, batch, metrics.clone())), is_strict: false }
            }
            AuditMode::Blocking => Outlet { sink, is_strict: false },
            AuditMode::BlockingStrict => Outlet { sink, is_strict: true },
        }
    }
}

#[cfg(test)]
mod tests;
