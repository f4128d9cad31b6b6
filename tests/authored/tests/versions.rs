//! Declarations of a single version apply to its clients, with the version's field names.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use common::Ci;
use http::Method;
use serde_json::{Value, json};

fn path(version: &str, name: &str) -> String {
    let slash = if name.is_empty() { "" } else { "/" };
    format!("/apis/ci.example.com/{version}/pipelines{slash}{name}")
}

fn pipeline(version: &str, name: &str, spec: &Value) -> Value {
    let api_version = format!("ci.example.com/{version}");
    json!({"apiVersion": api_version, "kind": "Pipeline", "metadata": {"name": name}, "spec": spec})
}

/// Returns the validation errors of a new object.
async fn refused(ci: &Ci, version: &str, spec: Value) -> Vec<String> {
    ci.refused(Method::POST, &path(version, ""), &pipeline(version, "refused", &spec)).await
}

async fn create(ci: &Ci, version: &str, name: &str, spec: Value) -> Value {
    ci.done(Method::POST, &path(version, ""), &pipeline(version, name, &spec)).await
}

#[tokio::test]
async fn bounds_of_the_requested_version_apply() {
    let ci = Ci::start(&[]);
    create(&ci, "v1", "many", json!({"workers": 80})).await;
    assert_eq!(
        refused(&ci, "v1", json!({"workers": 101})).await,
        ["spec.workers: Invalid value: 101: must be less than or equal to 100"]
    );
    assert_eq!(
        refused(&ci, "v2", json!({"parallelism": 80})).await,
        ["spec.parallelism: Invalid value: 80: must be less than or equal to 50"]
    );
    assert_eq!(
        refused(&ci, "v2", json!({"repository": "a".repeat(21)})).await,
        ["spec.repository: Too long: may not be more than 20 characters"]
    );
    create(&ci, "v1", "long", json!({"image": "a".repeat(40)})).await;
}

#[tokio::test]
async fn update_keeps_values_valid_in_another_version() {
    let ci = Ci::start(&[]);
    create(&ci, "v1", "many", json!({"workers": 80})).await;
    let unchanged = pipeline("v2", "many", &json!({"parallelism": 80, "repository": "rust"}));
    ci.done(Method::PUT, &path("v2", "many"), &unchanged).await;
    let more = pipeline("v2", "many", &json!({"parallelism": 81}));
    assert_eq!(
        ci.refused(Method::PUT, &path("v2", "many"), &more).await,
        ["spec.parallelism: Invalid value: 81: must be less than or equal to 50"]
    );
    let applied = ci.send(Method::PATCH, &format!("{}?fieldManager=a&force=true", path("v2", "many")), &more).await;
    assert!(applied.1["message"].as_str().unwrap().contains("spec.parallelism: Invalid value: 81"), "{}", applied.1);
}

#[tokio::test]
async fn values_and_rules_of_the_requested_version_apply() {
    let ci = Ci::start(&[]);
    assert_eq!(
        refused(&ci, "v1", json!({"mode": "Quick"})).await,
        [r#"spec.mode: Unsupported value: "Quick": supported values: "Fast", "Thorough""#]
    );
    assert_eq!(
        refused(&ci, "v2", json!({"mode": "Patient", "steps": [{"name": "a", "mode": "Lazy"}]})).await,
        [
            r#"spec.mode: Unsupported value: "Patient": supported values: "Careful", "Quick""#,
            r#"spec.steps[0].mode: Unsupported value: "Lazy": supported values: "Careful", "Quick""#
        ]
    );
    assert_eq!(
        refused(&ci, "v1", json!({"mode": "Thorough", "workers": 2})).await,
        ["spec.workers: Invalid value: thorough builds run alone"]
    );
    assert_eq!(
        refused(&ci, "v2", json!({"mode": "Careful", "parallelism": 2})).await,
        ["spec.parallelism: Invalid value: careful builds run alone"]
    );
    let made = create(&ci, "v2", "careful", json!({"mode": "Careful"})).await;
    assert_eq!(made["spec"]["mode"], "Careful");
    let read = ci.done(Method::GET, &path("v1", "careful"), &Value::Null).await;
    assert_eq!(read["spec"]["mode"], "Thorough");
}

#[tokio::test]
async fn function_errors_use_field_names_of_the_version() {
    let ci = Ci::start(&["--feature-gates=PipelineRetries=true,PipelineTags=true"]);
    let why = "must not exceed 20";
    assert_eq!(
        refused(&ci, "v1", json!({"retries": 21, "image": "rust:latest"})).await,
        [
            r#"spec.image: Invalid value: "rust:latest": must not be the latest one"#.to_owned(),
            format!("spec.retries: Invalid value: 21: {why}")
        ]
    );
    // An image is two fields in v2, so the error is reported for their parent.
    assert_eq!(
        refused(&ci, "v2", json!({"attempts": 21, "repository": "rust", "tag": "latest"})).await,
        [
            r#"spec: Invalid value: "rust:latest": must not be the latest one"#.to_owned(),
            format!("spec.attempts: Invalid value: 21: {why}")
        ]
    );
}

#[tokio::test]
async fn version_gates_a_field() {
    let spec = json!({"repository": "rust", "tag": "1.90"});
    let ci = Ci::start(&["--feature-gates=PipelineTags=true"]);
    create(&ci, "v2", "a", spec.clone()).await;
    assert_eq!(ci.done(Method::GET, &path("v1", "a"), &Value::Null).await["spec"]["image"], "rust:1.90");
    let ci = Ci::start(&[]);
    create(&ci, "v2", "a", spec.clone()).await;
    assert_eq!(ci.done(Method::GET, &path("v1", "a"), &Value::Null).await["spec"]["image"], "rust");
    // A value written through another version is kept.
    create(&ci, "v1", "b", json!({"image": "rust:1.90"})).await;
    let kept = ci.done(Method::PUT, &path("v2", "b"), &pipeline("v2", "b", &spec)).await;
    assert_eq!(kept["spec"]["tag"], "1.90");
}

#[tokio::test]
async fn warnings_use_field_names_of_the_version() {
    let ci = Ci::start(&[]);
    for (version, field) in [("v1", "mail"), ("v2", "contact")] {
        let object = pipeline(version, version, &json!({field: "a@example.com"}));
        let warnings = ci.warnings(Method::POST, &path(version, ""), &object).await;
        assert_eq!(warnings, [format!("299 - \"spec.{field}: deprecated\"")]);
    }
}
