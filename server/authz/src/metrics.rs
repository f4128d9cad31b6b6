//! Metrics of authorization, and an authorizer that counts the decisions of another one.

use std::sync::Arc;
use std::time::Duration;

use prometheus::{DEFAULT_BUCKETS, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry};
use request::{BoxFuture, User};

use crate::attributes::AuthorizationAttributes;
use crate::authorizer::{Authorizer, Decision, UserRules};

const CONDITION_BUCKETS: [f64; 7] = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/// The metrics of authorization. Clones share the counters.
#[derive(Clone)]
pub struct Metrics {
    decisions: IntCounterVec,
    evaluations: IntCounterVec,
    fail_open: IntCounterVec,
    durations: HistogramVec,
    pub(super) condition_errors: IntCounterVec,
    pub(super) exclusions: IntCounterVec,
    pub(super) condition_seconds: HistogramVec,
}

impl Metrics {
    /// Creates and registers the metrics.
    pub fn register(registry: &Registry) -> Self {
        let authorizer = &["type", "name"];
        let metrics = Metrics {
            decisions: counters(
                "decisions_total",
                "Number of decisions, by authorizer.",
                &["type", "name", "decision"],
            ),
            evaluations: counters(
                "webhook_evaluations_total",
                "Number of webhook calls, by outcome.",
                &["name", "result"],
            ),
            fail_open: counters(
                "webhook_evaluations_fail_open_total",
                "Number of failed webhook calls that were treated as no opinion.",
                &["name", "result"],
            ),
            durations: histograms(
                "webhook_duration_seconds",
                "Duration of webhook calls, in seconds.",
                &["name", "result"],
                DEFAULT_BUCKETS,
            ),
            condition_errors: counters(
                "match_condition_evaluation_errors_total",
                "Number of match conditions that failed to evaluate.",
                authorizer,
            ),
            exclusions: counters(
                "match_condition_exclusions_total",
                "Number of requests that match conditions excluded from a webhook.",
                authorizer,
            ),
            condition_seconds: histograms(
                "match_condition_evaluation_seconds",
                "Duration of match condition evaluations, in seconds.",
                authorizer,
                &CONDITION_BUCKETS,
            ),
        };
        for collector in [
            Box::new(metrics.decisions.clone()) as Box<dyn prometheus::core::Collector>,
            Box::new(metrics.evaluations.clone()),
            Box::new(metrics.fail_open.clone()),
            Box::new(metrics.durations.clone()),
            Box::new(metrics.condition_errors.clone()),
            Box::new(metrics.exclusions.clone()),
            Box::new(metrics.condition_seconds.clone()),
        ] {
            // Registration fails only for duplicate names, and these names are distinct.
            let _ = registry.register(collector);
        }
        metrics
    }

    /// Counts a call of a webhook.
    pub(super) fn called(&self, name: &str, result: &str, time: Duration) {
        self.evaluations.with_label_values(&[name, result]).inc();
        self.durations.with_label_values(&[name, result]).observe(time.as_secs_f64());
    }

    /// Counts a failed call that leaves the decision to other authorizers.
    pub(super) fn failed_open(&self, name: &str, result: &str) {
        self.fail_open.with_label_values(&[name, result]).inc();
    }
}

/// Creates a counter. Names and labels are literals of this file; the tests check that they are well-formed.
fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(format!("apiserver_authorization_{name}"), help), labels)
        .expect("a well-formed metric")
}

fn histograms(name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let options = HistogramOpts::new(format!("apiserver_authorization_{name}"), help).buckets(buckets.into());
    HistogramVec::new(options, labels).expect("a well-formed metric")
}

/// Counts the decisions of an authorizer (upstream: `InstrumentedAuthorizer`).
pub struct InstrumentedAuthorizer {
    inner: Arc<dyn Authorizer>,
    allowed: IntCounter,
    denied: IntCounter,
}

impl InstrumentedAuthorizer {
    /// Wraps an authorizer. Its type and name are those of the configuration.
    pub fn new(inner: Arc<dyn Authorizer>, of: &str, name: &str, metrics: &Metrics) -> Self {
        let counter = |decision: &str| metrics.decisions.with_label_values(&[of, name, decision]);
        InstrumentedAuthorizer { inner, allowed: counter("allowed"), denied: counter("denied") }
    }
}

impl Authorizer for InstrumentedAuthorizer {
    fn authorize<'a>(&'a self, attributes: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            let decision = self.inner.authorize(attributes).await;
            match decision {
                Decision::Allow(_) => self.allowed.inc(),
                Decision::Deny(_) => self.denied.inc(),
                Decision::NoOpinion(_) => {}
            }
            decision
        })
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> BoxFuture<'a, UserRules> {
        self.inner.rules(user, namespace)
    }
}
