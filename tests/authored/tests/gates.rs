//! Feature gates declared by a group, for fields, values and kinds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use apiserver::Server;
use authored::ci::gates;
use common::{Ci, server};
use http::{Method, StatusCode};
use machinery::catalog::{Catalog, GroupDef, OpenApiDocs};
use machinery::features::{FeatureStage, Gate};
use serde_json::{Value, json};

const PIPELINES: &str = "/apis/ci.example.com/v1/pipelines";
const ARCHIVES: &str = "/apis/ci.example.com/v1/archives";

fn pipeline(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "ci.example.com/v1", "kind": "Pipeline", "metadata": {"name": name}, "spec": spec})
}

fn at(name: &str) -> String {
    format!("{PIPELINES}/{name}")
}

#[tokio::test]
async fn writes_drop_fields_of_disabled_gates() {
    let spec = json!({"retries": 3, "steps": [{"name": "test"}]});
    for (flags, expect) in [
        (&[][..], Value::Null),
        (&["--feature-gates=PipelineRetries=true"], json!(3)),
        (&["--feature-gates=AllAlpha=true"], json!(3)),
        (&["--feature-gates=AllAlpha=true,PipelineRetries=false"], Value::Null),
    ] {
        let ci = Ci::start(flags);
        let made = ci.done(Method::POST, PIPELINES, &pipeline("a", &spec)).await;
        assert_eq!(made["spec"]["retries"], expect, "{flags:?}");
        assert_eq!(made["spec"]["steps"][0]["name"], "test", "the gate of steps is locked");
    }
}

#[tokio::test]
async fn struct_with_only_a_disabled_field_is_dropped() {
    let pauses = [
        (json!({"unlessRetried": false}), Value::Null),
        (json!({"unlessRetried": true, "seconds": 0}), json!({"seconds": 0})),
        (json!({}), json!({})),
    ];
    let ci = Ci::start(&[]);
    let named = |name: &str, pause: &Value| pipeline(name, &json!({"steps": [{"name": "test", "pause": pause}]}));
    for (index, (given, expect)) in pauses.iter().enumerate() {
        let name = format!("created-{index}");
        let made = ci.done(Method::POST, PIPELINES, &named(&name, given)).await;
        assert_eq!(made["spec"]["steps"][0]["pause"], *expect, "create with {given}");
        let name = format!("updated-{index}");
        ci.done(Method::POST, PIPELINES, &named(&name, &json!({"seconds": 1}))).await;
        let made = ci.done(Method::PUT, &at(&name), &named(&name, given)).await;
        assert_eq!(made["spec"]["steps"][0]["pause"], *expect, "update with {given}");
    }
}

#[tokio::test]
async fn functions_check_gates_by_constants() {
    let more = gates::PipelineTags;
    for (flags, most) in [("AllBeta=true".to_string(), 10), (format!("{more}=true"), 20)] {
        let ci = Ci::start(&[&format!("--feature-gates=PipelineRetries=true,{flags}")]);
        let refused = ci.refused(Method::POST, PIPELINES, &pipeline("a", &json!({"retries": 21}))).await;
        assert_eq!(refused, [format!("spec.retries: Invalid value: 21: must not exceed {most}")]);
    }
}

#[tokio::test]
async fn stored_objects_keep_fields_of_disabled_gates() {
    let folder = tempfile::tempdir().unwrap();
    let data = format!("--data-dir={}", folder.path().display());
    {
        let ci = Ci::start(&[&data, "--feature-gates=PipelineRetries=true"]);
        let steps = json!([{"name": "test", "mode": "Patient"}]);
        ci.done(Method::POST, PIPELINES, &pipeline("field", &json!({"retries": 3}))).await;
        ci.done(Method::POST, PIPELINES, &pipeline("value", &json!({"steps": steps}))).await;
        ci.done(Method::POST, PIPELINES, &pipeline("plain", &json!({}))).await;
    }
    let ci = Ci::start(&[&data]);
    for (name, expect) in [("field", json!(4)), ("value", Value::Null), ("plain", Value::Null)] {
        let changed = ci.done(Method::PUT, &at(name), &pipeline(name, &json!({"retries": 4}))).await;
        // The stored object uses the gate through the value, so the update keeps the field, too.
        let expect = if name == "value" { json!(4) } else { expect };
        assert_eq!(changed["spec"]["retries"], expect, "{name}");
    }
    let patient = pipeline("value", &json!({"mode": "Patient"}));
    ci.done(Method::PUT, &at("value"), &patient).await;
    let refused = ci.refused(Method::PUT, &at("plain"), &pipeline("plain", &json!({"mode": "Patient"}))).await;
    assert_eq!(refused, [r#"spec.mode: Unsupported value: "Patient": supported values: "Fast", "Thorough""#]);
}

#[tokio::test]
async fn rejects_values_of_disabled_gates() {
    let spec = json!({"mode": "Patient", "steps": [{"name": "test", "mode": "Patient"}]});
    let ci = Ci::start(&[]);
    let refused = ci.refused(Method::POST, PIPELINES, &pipeline("a", &spec)).await;
    let error = r#"Unsupported value: "Patient": supported values: "Fast", "Thorough""#;
    assert_eq!(refused, [format!("spec.mode: {error}"), format!("spec.steps[0].mode: {error}")]);
    let ci = Ci::start(&["--feature-gates=PipelineRetries=true"]);
    ci.done(Method::POST, PIPELINES, &pipeline("a", &spec)).await;
    let refused = ci.refused(Method::POST, PIPELINES, &pipeline("b", &json!({"mode": "Lazy"}))).await;
    assert_eq!(refused, [r#"spec.mode: Unsupported value: "Lazy": supported values: "Fast", "Patient", "Thorough""#]);
}

#[tokio::test]
async fn kinds_of_disabled_gates_are_not_served() {
    for (flags, expect) in
        [(&[][..], StatusCode::OK), (&["--feature-gates=PipelineArchives=false"], StatusCode::NOT_FOUND)]
    {
        let (status, answer) = Ci::start(flags).send(Method::GET, ARCHIVES, &Value::Null).await;
        assert_eq!(status, expect, "{answer}");
    }
}

#[tokio::test]
async fn metrics_show_the_gates() {
    let ci = Ci::start(&["--feature-gates=PipelineRetries=true"]);
    let text = ci.text("/metrics").await;
    for line in [
        r#"kubernetes_feature_enabled{name="PipelineRetries",stage="ALPHA"} 1"#,
        r#"kubernetes_feature_enabled{name="PipelineArchives",stage="BETA"} 1"#,
        r#"kubernetes_feature_enabled{name="PipelineSteps",stage=""} 1"#,
    ] {
        assert!(text.contains(line), "{line}");
    }
}

#[test]
fn rejects_invalid_gate_flags() {
    for (flag, expect) in [
        ("PipelineSteps=false", "cannot set feature gate PipelineSteps to false, feature is locked to true"),
        ("PipelineRetry=true", "unrecognized feature gate: PipelineRetry"),
    ] {
        let error = server(&[&format!("--feature-gates={flag}")]).start().err().unwrap().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

/// Returns the catalog of a group that declares only gates, together with the groups of this
/// package.
fn catalog_with_gates(gates: &'static [Gate]) -> Catalog {
    let group = GroupDef { name: "other.example.com", priority: 1000, versions: &[], gates };
    let more = Catalog { groups: vec![group].leak(), kinds: &[], openapi: OpenApiDocs { bundles: &[] } };
    authored::groups().with(Box::leak(Box::new(more)))
}

#[test]
fn groups_may_share_a_gate_with_equal_spec() {
    static EQUAL: [Gate; 1] = [Gate::new("PipelineRetries", FeatureStage::Alpha, false)];
    static DIFFERENT: [Gate; 1] = [Gate::new("PipelineRetries", FeatureStage::Beta, true)];
    assert!(catalog_with_gates(&EQUAL).gates().is_ok());
    let catalog = Box::leak(Box::new(catalog_with_gates(&DIFFERENT)));
    let error = Server::delegating("ci-apiserver", catalog).start().err().unwrap().to_string();
    assert_eq!(error, "error: feature gate \"PipelineRetries\" with different spec already exists");
}
