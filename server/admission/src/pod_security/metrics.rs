//! Metrics of evaluations (upstream: `pod-security-admission/metrics`).

use endpoints::{AdmissionAttributes, Operation};
use prometheus::{IntCounterVec, Registry};
use telemetry::metrics::shared::{counters, show};

use super::policy::{LevelVersion, NEWEST, PodSecurityLevel};

/// The mode in which a level applies.
#[derive(Clone, Copy)]
pub enum PodSecurityMode {
    Enforce,
    Audit,
    Warn,
}

impl PodSecurityMode {
    fn name(self) -> &'static str {
        match self {
            PodSecurityMode::Enforce => "enforce",
            PodSecurityMode::Audit => "audit",
            PodSecurityMode::Warn => "warn",
        }
    }
}

/// The counters.
pub struct PodSecurityMetrics {
    evaluations: IntCounterVec,
    exemptions: IntCounterVec,
    errors: IntCounterVec,
}

const OF_REQUEST: [&str; 3] = ["request_operation", "resource", "subresource"];

impl PodSecurityMetrics {
    /// Creates and registers the counters. Common label combinations start at zero.
    pub fn register(registry: &Registry) -> Self {
        let of_evaluation = [&["decision", "policy_level", "policy_version", "mode"][..], &OF_REQUEST].concat();
        let of_error = [&["fatal"][..], &OF_REQUEST].concat();
        let metrics = PodSecurityMetrics {
            evaluations: counters(
                "pod_security_evaluations_total",
                "Number of pod evaluations, by decision.",
                &of_evaluation,
            ),
            exemptions: counters(
                "pod_security_exemptions_total",
                "Number of requests that are exempt from evaluation.",
                &OF_REQUEST,
            ),
            errors: counters(
                "pod_security_errors_total",
                "Number of errors that prevented a regular pod evaluation.",
                &of_error,
            ),
        };
        show(registry, &metrics.evaluations);
        show(registry, &metrics.exemptions);
        show(registry, &metrics.errors);
        for operation in ["create", "update"] {
            let privileged = ["allow", "privileged", "latest", "enforce", operation, "pod", ""];
            metrics.evaluations.with_label_values(&privileged);
            for resource in ["pod", "controller"] {
                metrics.exemptions.with_label_values(&[operation, resource, ""]);
            }
        }
        metrics
    }

    /// Counts an evaluation of a pod.
    pub fn evaluated(
        &self,
        is_allowed: bool,
        level: LevelVersion,
        mode: PodSecurityMode,
        attributes: &AdmissionAttributes,
    ) {
        let version = match level.version {
            Some(minor) if level.level != PodSecurityLevel::Privileged && minor <= NEWEST => format!("v1.{minor}"),
            Some(_) if level.level != PodSecurityLevel::Privileged => "future".to_owned(),
            _ => "latest".to_owned(),
        };
        let decision = if is_allowed { "allow" } else { "deny" };
        let of_level = [decision, level.level.name(), version.as_str(), mode.name()];
        self.evaluations.with_label_values(&[&of_level[..], &of_request(attributes)].concat()).inc();
    }

    /// Counts an exempt request.
    pub fn exempt(&self, attributes: &AdmissionAttributes) {
        self.exemptions.with_label_values(&of_request(attributes)).inc();
    }

    /// Counts an error that prevented an evaluation or changed its result.
    pub fn failed(&self, is_fatal: bool, attributes: &AdmissionAttributes) {
        let fatal = if is_fatal { "true" } else { "false" };
        self.errors.with_label_values(&[&[fatal][..], &of_request(attributes)].concat()).inc();
    }
}

fn of_request(attributes: &AdmissionAttributes) -> [&str; 3] {
    let operation = match attributes.operation {
        Operation::Create => "create",
        Operation::Update => "update",
        Operation::Delete => "delete",
        Operation::Connect => "connect",
    };
    let resource = match (attributes.group, attributes.plural) {
        ("", "pods") => "pod",
        ("", "namespaces") => "namespace",
        _ => "controller",
    };
    [operation, resource, &attributes.subresource]
}
