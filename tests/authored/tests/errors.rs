//! Validation reports an error once, with the invalid value.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use common::Ci;
use http::Method;
use serde_json::{Value, json};

const PIPELINES: &str = "/apis/ci.example.com/v1/pipelines";

fn pipeline(spec: &Value, status: &Value) -> Value {
    let metadata = json!({"name": "a"});
    json!({
        "apiVersion": "ci.example.com/v1", "kind": "Pipeline",
        "metadata": metadata, "spec": spec, "status": status,
    })
}

#[tokio::test]
async fn immutable_field_error_shows_value() {
    let ci = Ci::start(&[]);
    ci.done(Method::POST, PIPELINES, &pipeline(&json!({"team": "red"}), &Value::Null)).await;
    let changed = pipeline(&json!({"team": "blue"}), &Value::Null);
    assert_eq!(
        ci.refused(Method::PUT, &format!("{PIPELINES}/a"), &changed).await,
        [r#"spec.team: Invalid value: "blue": field is immutable"#]
    );
}

#[tokio::test]
async fn invalid_condition_is_reported_once() {
    let ci = Ci::start(&[]);
    ci.done(Method::POST, PIPELINES, &pipeline(&json!({}), &Value::Null)).await;
    let mut condition = json!({
        "type": "Ready", "status": "Perhaps", "reason": "Seen", "message": "As it is.",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    for (status, expect) in [
        (
            json!("Perhaps"),
            r#"status.conditions[0].status: Unsupported value: "Perhaps": supported values: "False", "True", "Unknown""#,
        ),
        (
            json!(""),
            r#"status.conditions[0].status: Unsupported value: "": supported values: "False", "True", "Unknown""#,
        ),
    ] {
        condition["status"] = status;
        let changed = pipeline(&json!({}), &json!({"conditions": [condition]}));
        assert_eq!(ci.refused(Method::PUT, &format!("{PIPELINES}/a/status"), &changed).await, [expect]);
    }
}
