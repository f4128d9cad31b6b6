//! Tests of declared checks of `apps` and `batch`, with upstream's order and messages, for cases that
//! recorded conversations do not cover.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod apps;
mod batch;
mod job_changes;

use apiserver::convert;
use machinery::defaulting::{apply_defaults, normalize};
use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::reflect::Owned;
use machinery::validate::{Half, ValidationScope, Validator};
use serde_json::{Value, json};

fn hub(object: &Value) -> Owned {
    let body = serde_json::to_vec(object).unwrap();
    let mut object = convert::decode(kubernetes::catalog(), &body, None).unwrap();
    apply_defaults(object.value.as_mut());
    let mut hub = object.kind.to_hub(object.value);
    normalize(hub.as_mut());
    hub
}

/// Errors of an object in a write to a subresource, or to none if empty; `old` is the stored object, if
/// any.
fn errors_at(subresource: &str, new: &Value, old: Option<&Value>) -> Vec<String> {
    let (new, old) = (hub(new), old.map(hub));
    let context = WriteContext { subresource: subresource.to_owned(), ..WriteContext::default() };
    let validator = Validator { scope: ValidationScope::Tagged, half: Half::Both, context: &context, rules: None };
    let mut errors = Vec::new();
    validator.validate(new.as_ref(), old.as_ref().map(Owned::as_ref), &Path::NONE, &mut errors);
    errors.iter().map(|error| format!("{}: {}", error.field, error.body())).collect()
}

fn errors(new: &Value) -> Vec<String> {
    errors_at("", new, None)
}

/// A workload with a valid template; `spec` is merged into its spec.
fn workload(version: &str, kind: &str, spec: Value) -> Value {
    let mut all = json!({
        "selector": { "matchLabels": { "a": "b" } },
        "template": {
            "metadata": { "labels": { "a": "b" } },
            "spec": { "containers": [{ "name": "a", "image": "a" }] },
        },
    });
    merge(&mut all, spec);
    let metadata = json!({ "name": "a", "namespace": "a", "uid": "u", "resourceVersion": "1" });
    json!({ "apiVersion": version, "kind": kind, "metadata": metadata, "spec": all })
}

fn app(kind: &str, spec: Value) -> Value {
    workload("apps/v1", kind, spec)
}

/// A job with a manual selector.
fn job(spec: Value) -> Value {
    let mut all = json!({ "manualSelector": true, "template": { "spec": { "restartPolicy": "Never" } } });
    merge(&mut all, spec);
    workload("batch/v1", "Job", all)
}

fn with_status(mut object: Value, status: Value) -> Value {
    object["status"] = status;
    object
}

/// Applies a merge patch.
fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (name, value) in patch {
                if value.is_null() {
                    target.remove(&name);
                } else {
                    merge(target.entry(name).or_insert(Value::Null), value);
                }
            }
        }
        (target, patch) => *target = patch,
    }
}
