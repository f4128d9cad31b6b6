//! What operators measure admission by (upstream: `admission/metrics`).

use std::future::Future;
use std::time::Duration;

use endpoints::{Attributes, Operation};
use machinery::status::Status;
use prometheus::core::Collector;
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};
use tokio::time::Instant;

use super::policies::operation_name;

const BUCKETS: [f64; 6] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5];
const WEBHOOK_BUCKETS: [f64; 8] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0];
/// Codes above this one count as it.
const MOST_CODE: u16 = 600;

/// Whether an object may be changed, or only judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Admit,
    Validate,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Step::Admit => "admit",
            Step::Validate => "validate",
        }
    }
}

/// Why a webhook kept an object out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It said no.
    NoError,
    /// It could not be asked.
    CallingWebhook,
    /// What it wanted could not be done.
    ApiServerInternal,
}

impl Rejection {
    fn name(self) -> &'static str {
        match self {
            Rejection::NoError => "no_error",
            Rejection::CallingWebhook => "calling_webhook_error",
            Rejection::ApiServerInternal => "apiserver_internal_error",
        }
    }
}

/// The metrics of admission. Clones share them.
#[derive(Clone)]
pub struct Metrics {
    steps: HistogramVec,
    plugins: HistogramVec,
    webhooks: HistogramVec,
    rejections: IntCounterVec,
    fail_open: IntCounterVec,
    requests: IntCounterVec,
}

impl Metrics {
    /// Makes and registers them.
    pub fn register(registry: &Registry) -> Self {
        let of_webhook = ["name", "type", "operation"];
        Metrics {
            steps: histograms(
                registry,
                ("step_admission_duration_seconds", "How long each step of admission took."),
                &["type", "operation", "rejected"],
                &BUCKETS,
            ),
            plugins: histograms(
                registry,
                ("controller_admission_duration_seconds", "How long each admission plugin took."),
                &["name", "type", "operation", "rejected"],
                &BUCKETS,
            ),
            webhooks: histograms(
                registry,
                ("webhook_admission_duration_seconds", "How long each admission webhook took."),
                &["name", "type", "operation", "rejected"],
                &WEBHOOK_BUCKETS,
            ),
            rejections: counters(
                registry,
                "webhook_rejection_count",
                "Objects that admission webhooks kept out, by why.",
                &[&of_webhook[..], &["error_type", "rejection_code"]].concat(),
            ),
            fail_open: counters(
                registry,
                "webhook_fail_open_count",
                "Objects that passed although an admission webhook could not be asked.",
                &["name", "type"],
            ),
            requests: counters(
                registry,
                "webhook_request_total",
                "Requests to admission webhooks.",
                &[&of_webhook[..], &["code", "rejected"]].concat(),
            ),
        }
    }

    /// Runs a step of admission, and notes how long it took.
    pub async fn step(
        &self,
        step: Step,
        operation: Operation,
        work: impl Future<Output = Result<(), Status>>,
    ) -> Result<(), Status> {
        let begin = Instant::now();
        let outcome = work.await;
        let labels = [step.name(), operation_name(operation), truth(outcome.is_err())];
        self.steps.with_label_values(&labels).observe(begin.elapsed().as_secs_f64());
        outcome
    }

    /// Runs a plugin, and notes how long it took.
    pub async fn plugin(
        &self,
        name: &str,
        step: Step,
        operation: Operation,
        work: impl Future<Output = Result<(), Status>>,
    ) -> Result<(), Status> {
        let begin = Instant::now();
        let outcome = work.await;
        let labels = [name, step.name(), operation_name(operation), truth(outcome.is_err())];
        self.plugins.with_label_values(&labels).observe(begin.elapsed().as_secs_f64());
        outcome
    }

    /// Notes that a webhook was asked; a rejection comes with the code that the client gets.
    pub fn asked(
        &self,
        name: &str,
        step: Step,
        attributes: &Attributes,
        took: Duration,
        code: u16,
        rejection: Option<Rejection>,
    ) {
        let (operation, rejected) = (operation_name(attributes.operation), truth(rejection.is_some()));
        let code = code.min(MOST_CODE).to_string();
        self.requests.with_label_values(&[name, step.name(), operation, &code, rejected]).inc();
        self.webhooks.with_label_values(&[name, step.name(), operation, rejected]).observe(took.as_secs_f64());
        if let Some(rejection) = rejection {
            self.rejections.with_label_values(&[name, step.name(), operation, rejection.name(), &code]).inc();
        }
    }

    /// Notes that an object passed although a webhook could not be asked.
    pub fn failed_open(&self, name: &str, step: Step) {
        self.fail_open.with_label_values(&[name, step.name()]).inc();
    }
}

fn truth(is: bool) -> &'static str {
    if is { "true" } else { "false" }
}

fn histograms(registry: &Registry, (name, help): (&str, &str), labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let options = HistogramOpts::new(format!("apiserver_admission_{name}"), help).buckets(buckets.to_vec());
    registered(registry, HistogramVec::new(options, labels).expect("a well-formed metric"))
}

fn counters(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    let options = Opts::new(format!("apiserver_admission_{name}"), help);
    registered(registry, IntCounterVec::new(options, labels).expect("a well-formed metric"))
}

fn registered<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> C {
    let _ = registry.register(Box::new(collector.clone())); // only a name registered twice is refused
    collector
}
