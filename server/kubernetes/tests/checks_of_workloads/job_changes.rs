//! Tests of changes of suspended jobs, and of job statuses.

use serde_json::{Value, json};

use super::{errors_at, job, merge, with_status};

const EARLY: &str = "2026-01-01T00:00:00Z";
const LATE: &str = "2026-01-02T00:00:00Z";

fn holds(conditions: &[&str]) -> Value {
    conditions.iter().map(|condition| json!({ "type": condition, "status": "True" })).collect()
}

/// Errors of a status update of a job with this spec.
fn change(spec: &Value, old: Value, new: Value) -> Vec<String> {
    let job = job(spec.clone());
    errors_at("status", &with_status(job.clone(), new), Some(&with_status(job, old)))
}

#[test]
fn completion_time_follows_start_time() {
    let complete = holds(&["Complete", "SuccessCriteriaMet"]);
    let new = json!({ "conditions": complete, "startTime": LATE, "completionTime": EARLY });
    let early = "status.completionTime: Invalid value: \"2026-01-01T00:00:00Z\"";
    assert_eq!(
        change(&json!({}), json!({ "startTime": LATE }), new),
        [format!("{early}: must be equal to or after `startTime`")]
    );
    let old = json!({ "conditions": complete, "startTime": EARLY, "completionTime": LATE });
    let new = json!({ "conditions": complete, "startTime": EARLY, "completionTime": EARLY });
    assert_eq!(change(&json!({}), old, new), [format!("{early}: field is immutable")]);
}

#[test]
fn finished_job_has_no_uncounted_pods() {
    let pods = json!({ "failed": ["a"] });
    let new = json!({
        "conditions": holds(&["Failed", "FailureTarget"]),
        "startTime": EARLY,
        "uncountedTerminatedPods": pods,
    });
    assert_eq!(
        change(&json!({}), json!({ "startTime": EARLY, "uncountedTerminatedPods": pods }), new),
        ["status.uncountedTerminatedPods: Invalid value: {\"Succeeded\":null,\"Failed\":[\"a\"]}: must be empty for \
                finished job"]
    );
}

#[test]
fn start_time_changes_only_through_suspension() {
    let changed = "status.startTime: Invalid value: null: field is immutable for unsuspended job once set";
    let started = json!({ "startTime": EARLY });
    assert_eq!(change(&json!({}), started.clone(), json!({})), [changed]);
    assert_eq!(change(&json!({ "suspend": true }), started, json!({})), [""; 0]);
    let suspended = json!({ "startTime": EARLY, "conditions": holds(&["Suspended"]) });
    let goes_on = json!({ "startTime": LATE, "conditions": [{ "type": "Suspended", "status": "False" }] });
    assert_eq!(change(&json!({}), suspended, goes_on), [""; 0]);
}

#[test]
fn suspended_job_without_completions_needs_no_start_time() {
    let spec = |suspend: bool| json!({ "completions": 0, "suspend": suspend });
    let complete = json!({ "conditions": holds(&["Complete", "SuccessCriteriaMet"]), "completionTime": EARLY });
    assert_eq!(change(&spec(true), json!({}), complete.clone()), [""; 0]);
    assert_eq!(
        change(&spec(false), json!({}), complete),
        ["status.startTime: Required value: startTime is required for finished job"]
    );
}

#[test]
fn failed_job_keeps_failure_target() {
    let failed = |conditions: &[&str]| json!({ "conditions": holds(conditions), "startTime": EARLY });
    let found = change(&json!({}), failed(&["Failed", "FailureTarget"]), failed(&["Failed"]));
    assert_eq!(found, ["status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition"]);
}

#[test]
fn suspended_job_may_change_resources_and_scheduling() {
    let container =
        |name: &str, cpu: &str| json!({ "name": name, "image": "a", "resources": { "limits": { "cpu": cpu } } });
    let suspended = |container: Value, spec: Value| {
        let mut all = json!({ "suspend": true, "template": { "spec": { "containers": [container] } } });
        merge(&mut all, json!({ "template": { "spec": spec } }));
        job(all)
    };
    let old = suspended(container("a", "1"), json!({}));
    let new = suspended(container("a", "2"), json!({ "nodeSelector": { "a": "b" } }));
    assert_eq!(errors_at("", &new, Some(&old)), [""; 0]);
    let running = with_status(old.clone(), json!({ "active": 1 }));
    let found = errors_at("", &new, Some(&running));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("spec.template: Invalid value: "), "{found:?}");
    let renamed = suspended(container("b", "2"), json!({}));
    let found = errors_at("", &renamed, Some(&old));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("spec.template.spec: Invalid value: {"), "{found:?}");
    assert!(found[0].contains("\"cpu\":\"2\""), "{found:?}");
}
