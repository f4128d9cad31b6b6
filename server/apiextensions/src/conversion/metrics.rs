//! Metrics of conversion webhooks, with upstream's names.

use std::time::Instant;

use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

/// Bucket bounds in seconds, from 5 ms to one minute.
const BUCKETS: [f64; 15] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0];

/// Metrics of conversions. A metric is `None` if its name is already registered.
pub struct Metrics {
    requests: Option<IntCounterVec>,
    latency: Option<HistogramVec>,
    conversions: Option<HistogramVec>,
}

/// The reason why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionFailure {
    Call,
    Malformed,
    Partial,
    InvalidObject,
}

impl ConversionFailure {
    fn name(self) -> &'static str {
        match self {
            ConversionFailure::Call => "conversion_webhook_call_failure",
            ConversionFailure::Malformed => "conversion_webhook_malformed_response_failure",
            ConversionFailure::Partial => "conversion_webhook_partial_response_failure",
            ConversionFailure::InvalidObject => "conversion_webhook_invalid_converted_object_failure",
        }
    }
}

/// Labels and start time of a conversion.
pub struct Measured<'m> {
    pub definition: &'m str,
    pub from: &'m str,
    pub to: &'m str,
    pub begun: Instant,
}

impl Metrics {
    pub fn new(registry: &Registry) -> Self {
        let outcome = ["result", "failure_type"];
        let requests = IntCounterVec::new(
            Opts::new("apiserver_conversion_webhook_request_total", "Number of conversion webhook calls, by outcome."),
            &outcome,
        );
        let latency = histogram(
            "apiserver_conversion_webhook_duration_seconds",
            "Duration of conversion webhook calls, in seconds.",
            &BUCKETS,
            &outcome,
        );
        let buckets = prometheus::exponential_buckets(0.001, 2.0, 15).unwrap_or_default();
        let conversions = histogram(
            "apiserver_crd_conversion_webhook_duration_seconds",
            "Duration of webhook conversions by CRD and versions, in seconds.",
            &buckets,
            &["crd_name", "from_version", "to_version", "succeeded"],
        );
        Metrics {
            requests: requests.ok().filter(|all| registry.register(Box::new(all.clone())).is_ok()),
            latency: latency.filter(|all| registry.register(Box::new(all.clone())).is_ok()),
            conversions: conversions.filter(|all| registry.register(Box::new(all.clone())).is_ok()),
        }
    }

    /// Records the outcome of a call.
    pub fn observe(&self, measured: &Measured<'_>, failure: Option<ConversionFailure>) {
        let seconds = measured.begun.elapsed().as_secs_f64();
        let outcome = match failure {
            None => ["success", ""],
            Some(failure) => ["failure", failure.name()],
        };
        let succeeded = if failure.is_none() { "true" } else { "false" };
        self.requests.iter().for_each(|all| all.with_label_values(&outcome).inc());
        self.latency.iter().for_each(|all| all.with_label_values(&outcome).observe(seconds));
        let labels = [measured.definition, measured.from, measured.to, succeeded];
        self.conversions.iter().for_each(|all| all.with_label_values(&labels).observe(seconds));
    }
}

fn histogram(name: &str, help: &str, buckets: &[f64], labels: &[&str]) -> Option<HistogramVec> {
    HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets.into()), labels).ok()
}
