//! Metrics of the external signer (upstream: `externaljwt/metrics`).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus::{Gauge, HistogramVec, IntCounterVec, Registry};
use telemetry::metrics::{counters, gauge, histograms};

use crate::Error;
use prost_types::Timestamp;

const SECONDS: [f64; 14] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

#[derive(Debug)]
pub(super) struct SignerMetrics {
    fetched_at: Gauge,
    data_of: Gauge,
    fetches: IntCounterVec,
    signatures: IntCounterVec,
    calls: HistogramVec,
}

/// Returns the `code` label of an outcome.
fn code<T>(outcome: &Result<T, Error>) -> &'static str {
    outcome.as_ref().map_or_else(Error::code, |_| "OK")
}

impl SignerMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let name = |name: &str| format!("apiserver_externaljwt_{name}");
        let calls = "Duration of calls of the external token signer, in seconds.";
        SignerMetrics {
            fetched_at: gauge(
                registry,
                &name("fetch_keys_success_timestamp"),
                "Time of the last successful key fetch, in seconds since 1970.",
            ),
            data_of: gauge(
                registry,
                &name("fetch_keys_data_timestamp"),
                "Data timestamp of the last fetched keys, in seconds since 1970.",
            ),
            fetches: counters(
                registry,
                &name("fetch_keys_request_total"),
                "Number of key fetches from the external signer.",
                &["code"],
            ),
            signatures: counters(registry, &name("sign_request_total"), "Number of token signing requests.", &["code"]),
            calls: histograms(registry, &name("request_duration_seconds"), calls, &["method", "code"], &SECONDS),
        }
    }

    pub(super) fn called(&self, method: &str, code: &str, took: Duration) {
        self.calls.with_label_values(&[method, code]).observe(took.as_secs_f64());
    }

    pub(super) fn signed(&self, outcome: &Result<String, Error>) {
        self.signatures.with_label_values(&[code(outcome)]).inc();
    }

    /// Records a key fetch and, if it succeeded, the data timestamp of the keys.
    pub(super) fn fetched(&self, outcome: &Result<Timestamp, Error>) {
        self.fetches.with_label_values(&[code(outcome)]).inc();
        if let Ok(time) = outcome {
            self.fetched_at.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
            self.data_of.set(time.seconds as f64 + f64::from(time.nanos) / 1e9);
        }
    }
}
