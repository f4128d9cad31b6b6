//! Metrics of admission (upstream: `admission/metrics`).

mod out_of_scope;

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use endpoints::{AdmissionAttributes, Operation};
use machinery::status::Status;
use prometheus::core::{Collector, Desc};
use prometheus::proto::{MetricFamily, MetricType, Summary};
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

pub use out_of_scope::OutOfScope;
use out_of_scope::PluginDurations;

use super::plugins::Plugin;
use super::policies::operation_name;
use super::step::{AdmissionStep, OPERATIONS, STEPS};

const BUCKETS: [f64; 6] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5];
const WEBHOOK_BUCKETS: [f64; 8] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0];
const CONDITION_BUCKETS: [f64; 7] = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const CHECK_BUCKETS: [f64; 5] = [0.000_000_5, 0.001, 0.01, 0.1, 1.0];
/// Status codes above this are recorded as this one.
const MAX_CODE: u16 = 600;

/// Why a webhook rejected a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The webhook denied the request.
    NoError,
    /// The call of the webhook failed.
    CallingWebhook,
    /// The server failed to apply the webhook's response.
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

/// The metrics of admission. Clones share their state.
#[derive(Clone)]
pub struct Metrics {
    steps: HistogramVec,
    plugins: HistogramVec,
    out_of_scope: OutOfScope,
    webhooks: HistogramVec,
    rejections: IntCounterVec,
    fail_open: IntCounterVec,
    requests: IntCounterVec,
    checks: IntCounterVec,
    check_seconds: HistogramVec,
    mutations: IntCounterVec,
    mutation_seconds: HistogramVec,
    condition_seconds: HistogramVec,
    condition_errors: IntCounterVec,
    exclusions: IntCounterVec,
}

impl Metrics {
    /// Creates and registers the metrics.
    pub fn register(registry: &Registry) -> Self {
        let of_webhook = ["name", "type", "operation"];
        let of_conditions = ["name", "kind", "type", "operation"];
        let checks = policy_checks(registry, "validating", &["enforcement_action"]);
        let mutations = policy_checks(registry, "mutating", &[]);
        let steps = histograms(
            registry,
            ("step_admission_duration_seconds", "Duration of each admission step, in seconds."),
            &["type", "operation", "rejected"],
            &BUCKETS,
        );
        StepSummary::register(registry, &steps);
        let plugins = histogram_vec(
            ("controller_admission_duration_seconds", "Duration of each admission plugin call, in seconds."),
            &["name", "type", "operation", "rejected"],
            &BUCKETS,
        );
        let out_of_scope = OutOfScope::default();
        let collector = PluginDurations { called: plugins.clone(), out_of_scope: out_of_scope.clone() };
        let _ = registry.register(Box::new(collector)); // fails only for duplicate names
        Metrics {
            steps,
            plugins,
            out_of_scope,
            webhooks: histograms(
                registry,
                ("webhook_admission_duration_seconds", "Duration of each admission webhook call, in seconds."),
                &["name", "type", "operation", "rejected"],
                &WEBHOOK_BUCKETS,
            ),
            rejections: counters(
                registry,
                "webhook_rejection_count",
                "Number of objects rejected by admission webhooks, by reason.",
                &[&of_webhook[..], &["error_type", "rejection_code"]].concat(),
            ),
            fail_open: counters(
                registry,
                "webhook_fail_open_count",
                "Number of failed admission webhook calls that were ignored by the failure policy.",
                &["name", "type"],
            ),
            requests: counters(
                registry,
                "webhook_request_total",
                "Number of calls of admission webhooks.",
                &[&of_webhook[..], &["code", "rejected"]].concat(),
            ),
            checks: checks.0,
            check_seconds: checks.1,
            mutations: mutations.0,
            mutation_seconds: mutations.1,
            condition_seconds: histograms(
                registry,
                ("match_condition_evaluation_seconds", "Duration of match condition evaluations, in seconds."),
                &of_conditions,
                &CONDITION_BUCKETS,
            ),
            condition_errors: counters(
                registry,
                "match_condition_evaluation_errors_total",
                "Number of match conditions that failed to evaluate.",
                &of_conditions,
            ),
            exclusions: counters(
                registry,
                "match_condition_exclusions_total",
                "Number of requests that match conditions excluded from a webhook or policy.",
                &of_conditions,
            ),
        }
    }

    /// Returns the timings of a plugin.
    pub fn of_plugin(&self, plugin: Plugin) -> Times {
        Times::new(&self.plugins, Some(plugin.name()))
    }

    /// Returns the counter of requests outside the scope of plugins.
    pub fn out_of_scope(&self) -> OutOfScope {
        self.out_of_scope.clone()
    }

    /// Returns the timings of the steps.
    pub fn of_steps(&self) -> Times {
        Times::new(&self.steps, None)
    }

    /// Records a webhook call. A rejection is recorded with the status code that the client
    /// receives.
    pub fn observe_call(
        &self,
        name: &str,
        step: AdmissionStep,
        attributes: &AdmissionAttributes,
        took: Duration,
        code: u16,
        rejection: Option<Rejection>,
    ) {
        let (operation, rejected) = (operation_name(attributes.operation), bool_label(rejection.is_some()));
        let code = code.min(MAX_CODE).to_string();
        self.requests.with_label_values(&[name, step.webhooks(), operation, &code, rejected]).inc();
        self.webhooks.with_label_values(&[name, step.webhooks(), operation, rejected]).observe(took.as_secs_f64());
        if let Some(rejection) = rejection {
            self.rejections.with_label_values(&[name, step.webhooks(), operation, rejection.name(), &code]).inc();
        }
    }

    /// Records a validation of a policy that failed or had an error.
    pub fn checked(&self, policy: &str, binding: &str, action: &str, failure: Option<&str>, took: Duration) {
        let labels = [policy, binding, error_type(failure), action];
        self.checks.with_label_values(&labels).inc();
        self.check_seconds.with_label_values(&labels).observe(took.as_secs_f64());
    }

    /// Records a mutation of a policy.
    pub fn mutated(&self, policy: &str, binding: &str, failure: Option<&str>, took: Duration) {
        let labels = [policy, binding, error_type(failure)];
        self.mutations.with_label_values(&labels).inc();
        self.mutation_seconds.with_label_values(&labels).observe(took.as_secs_f64());
    }

    /// Returns the match condition metrics of a policy. All policies have the type `validate`, as
    /// upstream.
    pub fn of_policy<'m>(&'m self, name: &'m str, operation: Operation) -> MatchConditionMetrics<'m> {
        MatchConditionMetrics { metrics: self, of: ("policy", "validate"), name, operation }
    }

    /// Returns the match condition metrics of a webhook.
    pub fn of_webhook<'m>(
        &'m self,
        name: &'m str,
        step: AdmissionStep,
        operation: Operation,
    ) -> MatchConditionMetrics<'m> {
        MatchConditionMetrics { metrics: self, of: ("webhook", step.webhooks()), name, operation }
    }

    /// Records that match conditions excluded a webhook.
    pub fn excluded(&self, name: &str, step: AdmissionStep, operation: Operation) {
        self.exclusions.with_label_values(&[name, "webhook", step.name(), operation_name(operation)]).inc();
    }

    /// Records that a request was admitted although a webhook call failed.
    pub fn failed_open(&self, name: &str, step: AdmissionStep) {
        self.fail_open.with_label_values(&[name, step.webhooks()]).inc();
    }
}

/// Match condition metrics of one policy or webhook.
#[derive(Clone, Copy)]
pub struct MatchConditionMetrics<'m> {
    metrics: &'m Metrics,
    /// Kind and type.
    of: (&'static str, &'static str),
    name: &'m str,
    operation: Operation,
}

impl MatchConditionMetrics<'_> {
    fn labels(&self) -> [&str; 4] {
        [self.name, self.of.0, self.of.1, operation_name(self.operation)]
    }

    /// Records the duration of an evaluation.
    pub fn evaluated(&self, took: Duration) {
        self.metrics.condition_seconds.with_label_values(&self.labels()).observe(took.as_secs_f64());
    }

    /// Records an evaluation error.
    pub fn failed(&self) {
        self.metrics.condition_errors.with_label_values(&self.labels()).inc();
    }
}

/// Step durations as a summary without quantiles, from the observations of the histogram.
struct StepSummary {
    desc: Desc,
    steps: HistogramVec,
}

impl StepSummary {
    fn register(registry: &Registry, steps: &HistogramVec) {
        let name = "apiserver_admission_step_admission_duration_seconds_summary";
        let labels = ["type", "operation", "rejected"].map(String::from).to_vec();
        let desc =
            Desc::new(name.into(), "Duration of each admission step, in seconds.".into(), labels, HashMap::new());
        let summary = StepSummary { desc: desc.expect("a well-formed metric"), steps: steps.clone() };
        let _ = registry.register(Box::new(summary)); // fails only for duplicate names
    }
}

impl Collector for StepSummary {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.desc]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut families = self.steps.collect();
        for family in &mut families {
            family.set_name(self.desc.fq_name.clone());
            family.set_field_type(MetricType::SUMMARY);
            for metric in family.mut_metric() {
                let (count, sum) = (metric.get_histogram().get_sample_count(), metric.get_histogram().get_sample_sum());
                let mut summary = Summary::default();
                summary.set_sample_count(count);
                summary.set_sample_sum(sum);
                metric.set_summary(summary);
            }
        }
        families
    }
}

/// Durations by step, operation, and outcome. The histograms of admitted requests are cached.
pub struct Times {
    all: HistogramVec,
    /// The value of the label `name`, which precedes the other labels.
    name: Option<&'static str>,
    passed: [[OnceLock<Histogram>; OPERATIONS]; STEPS],
}

impl Times {
    fn new(all: &HistogramVec, name: Option<&'static str>) -> Self {
        Times { all: all.clone(), name, passed: Default::default() }
    }

    /// Records one duration.
    pub fn note(&self, step: AdmissionStep, operation: Operation, took: Duration, outcome: &Result<(), Status>) {
        let of = || self.of(step, operation, outcome.is_err());
        match outcome {
            Ok(()) => self.passed[step as usize][operation as usize].get_or_init(of).observe(took.as_secs_f64()),
            Err(_) => of().observe(took.as_secs_f64()),
        }
    }

    fn of(&self, step: AdmissionStep, operation: Operation, rejected: bool) -> Histogram {
        let labels = [step.name(), operation_name(operation), bool_label(rejected)];
        let labels: Vec<&str> = self.name.into_iter().chain(labels).collect();
        self.all.with_label_values(&labels)
    }
}

/// Classifies a validation error by its message (`validating.ErrorType`).
fn error_type(failure: Option<&str>) -> &'static str {
    match failure {
        None => "no_error",
        Some(why) if why.starts_with("compilation") => "compile_error",
        Some(why) if why.starts_with("validation failed due to running out of cost budget") => "out_of_budget",
        Some(_) => "invalid_error",
    }
}

fn policy_checks(registry: &Registry, kind: &str, more: &[&str]) -> (IntCounterVec, HistogramVec) {
    let labels = [&["policy", "policy_binding", "error_type"], more].concat();
    let name = |what: &str| format!("apiserver_{kind}_admission_policy_check_{what}");
    let total = Opts::new(name("total"), format!("Number of {kind} policy checks, by outcome."));
    let seconds =
        HistogramOpts::new(name("duration_seconds"), format!("Duration of {kind} policy checks, in seconds."));
    let seconds = seconds.buckets(CHECK_BUCKETS.to_vec());
    (
        registered(registry, IntCounterVec::new(total, &labels).expect("a well-formed metric")),
        registered(registry, HistogramVec::new(seconds, &labels).expect("a well-formed metric")),
    )
}

fn bool_label(is: bool) -> &'static str {
    if is { "true" } else { "false" }
}

fn histograms(registry: &Registry, (name, help): (&str, &str), labels: &[&str], buckets: &[f64]) -> HistogramVec {
    registered(registry, histogram_vec((name, help), labels, buckets))
}

fn histogram_vec((name, help): (&str, &str), labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let options = HistogramOpts::new(format!("apiserver_admission_{name}"), help).buckets(buckets.to_vec());
    HistogramVec::new(options, labels).expect("a well-formed metric")
}

fn counters(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    let options = Opts::new(format!("apiserver_admission_{name}"), help);
    registered(registry, IntCounterVec::new(options, labels).expect("a well-formed metric"))
}

fn registered<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> C {
    let _ = registry.register(Box::new(collector.clone())); // fails only for duplicate names
    collector
}
