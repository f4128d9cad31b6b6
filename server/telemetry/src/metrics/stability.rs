//! The stability of metrics (upstream: `component-base/metrics`).

use prometheus::proto::MetricFamily;

/// Metrics with `stabilityLevel: STABLE`.
const STABLE: [&str; 13] = [
    "apiserver_admission_controller_admission_duration_seconds",
    "apiserver_admission_step_admission_duration_seconds",
    "apiserver_admission_webhook_admission_duration_seconds",
    "apiserver_current_inflight_requests",
    "apiserver_longrunning_requests",
    "apiserver_request_duration_seconds",
    "apiserver_request_total",
    "apiserver_requested_deprecated_apis",
    "apiserver_response_sizes",
    "apiserver_storage_objects",
    "apiserver_storage_size_bytes",
    "kubernetes_healthcheck",
    "kubernetes_healthchecks_total",
];
/// Metrics with `stabilityLevel: BETA`.
const BETA: [&str; 32] = [
    "apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds",
    "apiserver_authentication_config_controller_automatic_reloads_total",
    "apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds",
    "apiserver_authorization_config_controller_automatic_reloads_total",
    "apiserver_cel_compilation_duration_seconds",
    "apiserver_cel_evaluation_duration_seconds",
    "apiserver_flowcontrol_current_executing_requests",
    "apiserver_flowcontrol_current_executing_seats",
    "apiserver_flowcontrol_current_inqueue_requests",
    "apiserver_flowcontrol_dispatched_requests_total",
    "apiserver_flowcontrol_nominal_limit_seats",
    "apiserver_flowcontrol_rejected_requests_total",
    "apiserver_flowcontrol_request_wait_duration_seconds",
    "apiserver_storage_events_received_total",
    "apiserver_validating_admission_policy_check_duration_seconds",
    "apiserver_validating_admission_policy_check_total",
    "apiserver_validation_declarative_validation_mismatch_total",
    "apiserver_validation_declarative_validation_panic_total",
    "apiserver_watch_list_duration_seconds",
    "disabled_metrics_total",
    "hidden_metrics_total",
    "kubernetes_build_info",
    "kubernetes_feature_enabled",
    "registered_metrics_total",
    "running_managed_controllers",
    "workqueue_adds_total",
    "workqueue_depth",
    "workqueue_longest_running_processor_seconds",
    "workqueue_queue_duration_seconds",
    "workqueue_retries_total",
    "workqueue_unfinished_work_seconds",
    "workqueue_work_duration_seconds",
];
/// Prefixes of metrics without stability: those of the process and of libraries.
const UNMARKED: [&str; 2] = ["process_", "go_"];

/// The stability level of a metric; `None` for metrics of the process.
pub fn level(name: &str) -> Option<&'static str> {
    match name {
        name if UNMARKED.iter().any(|prefix| name.starts_with(prefix)) => None,
        name if STABLE.contains(&name) => Some("STABLE"),
        name if BETA.contains(&name) => Some("BETA"),
        _ => Some("ALPHA"),
    }
}

/// Puts the stability level before the help of each metric.
pub fn mark(families: &mut [MetricFamily]) {
    for family in families {
        if let Some(level) = level(family.name()) {
            family.set_help(format!("[{level}] {}", family.help()));
        }
    }
}
