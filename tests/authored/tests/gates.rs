//! Feature gates that a group declares: of fields, of values and of kinds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use apiserver::Server;
use authored::ci::gates;
use common::{Ci, server};
use http::{Method, StatusCode};
use machinery::catalog::{Catalog, GroupDef, OpenApiDocs};
use machinery::features::{Gate, Stage};
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
async fn a_write_loses_fields_of_gates_that_are_off() {
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
async fn a_struct_that_held_nothing_but_a_gated_field_goes_with_it() {
    let pauses = [
        (json!({"unlessRetried": false}), Value::Null),
        (json!({"unlessRetried": true, "seconds": 0}), json!({"seconds": 0})),
        (json!({}), json!({})),
    ];
    let ci = Ci::start(&[]);
    let named = |name: &str, pause: &Value| pipeline(name, &json!({"steps": [{"name": "test", "pause": pause}]}));
    for (index, (said, expect)) in pauses.iter().enumerate() {
        let name = format!("created-{index}");
        let made = ci.done(Method::POST, PIPELINES, &named(&name, said)).await;
        assert_eq!(made["spec"]["steps"][0]["pause"], *expect, "create with {said}");
        let name = format!("updated-{index}");
        ci.done(Method::POST, PIPELINES, &named(&name, &json!({"seconds": 1}))).await;
        let made = ci.done(Method::PUT, &at(&name), &named(&name, said)).await;
        assert_eq!(made["spec"]["steps"][0]["pause"], *expect, "update with {said}");
    }
}

#[tokio::test]
async fn functions_ask_for_gates_by_their_constants() {
    let more = gates::PipelineTags;
    for (flags, most) in [("AllBeta=true".to_string(), 10), (format!("{more}=true"), 20)] {
        let ci = Ci::start(&[&format!("--feature-gates=PipelineRetries=true,{flags}")]);
        let refused = ci.refused(Method::POST, PIPELINES, &pipeline("a", &json!({"retries": 21}))).await;
        assert_eq!(refused, [format!("spec.retries: Invalid value: 21: must not exceed {most}")]);
    }
}

#[tokio::test]
async fn a_stored_object_keeps_what_it_uses_of_a_gate_that_was_turned_off() {
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
        // The value is one use of the gate, so it would keep the field, too, had it not just lost
        // the value.
        let expect = if name == "value" { json!(4) } else { expect };
        assert_eq!(changed["spec"]["retries"], expect, "{name}");
    }
    let patient = pipeline("value", &json!({"mode": "Patient"}));
    ci.done(Method::PUT, &at("value"), &patient).await;
    let refused = ci.refused(Method::PUT, &at("plain"), &pipeline("plain", &json!({"mode": "Patient"}))).await;
    assert_eq!(refused, [r#"spec.mode: Unsupported value: "Patient": supported values: "Fast", "Thorough""#]);
}

#[tokio::test]
async fn values_of_gates_that_are_off_are_refused() {
    let spec = json!({"mode": "Patient", "steps": [{"name": "test", "mode": "Patient"}]});
    let ci = Ci::start(&[]);
    let refused = ci.refused(Method::POST, PIPELINES, &pipeline("a", &spec)).await;
    let why = r#"Unsupported value: "Patient": supported values: "Fast", "Thorough""#;
    assert_eq!(refused, [format!("spec.mode: {why}"), format!("spec.steps[0].mode: {why}")]);
    let ci = Ci::start(&["--feature-gates=PipelineRetries=true"]);
    ci.done(Method::POST, PIPELINES, &pipeline("a", &spec)).await;
    let refused = ci.refused(Method::POST, PIPELINES, &pipeline("b", &json!({"mode": "Lazy"}))).await;
    assert_eq!(refused, [r#"spec.mode: Unsupported value: "Lazy": supported values: "Fast", "Patient", "Thorough""#]);
}

#[tokio::test]
async fn kinds_of_gates_that_are_off_are_not_there() {
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
fn what_the_flag_cannot_set_is_refused() {
    for (flag, expect) in [
        ("PipelineSteps=false", "cannot set feature gate PipelineSteps to false, feature is locked to true"),
        ("PipelineRetry=true", "unrecognized feature gate: PipelineRetry"),
    ] {
        let why = server(&[&format!("--feature-gates={flag}")]).start().err().unwrap();
        assert!(why.contains(expect), "{why}");
    }
}

/// A group that declares nothing but gates, beside those of this package.
fn beside(gates: &'static [Gate]) -> Catalog {
    let group = GroupDef { name: "other.example.com", priority: 1000, versions: &[], gates };
    let more = Catalog { groups: vec![group].leak(), kinds: &[], openapi: OpenApiDocs { bundles: &[] } };
    authored::groups().with(Box::leak(Box::new(more)))
}

#[test]
fn two_groups_may_declare_a_gate_alike_and_not_differently() {
    static ALIKE: [Gate; 1] = [Gate::new("PipelineRetries", Stage::Alpha, false)];
    static OTHERWISE: [Gate; 1] = [Gate::new("PipelineRetries", Stage::Beta, true)];
    assert!(beside(&ALIKE).gates().is_ok());
    let catalog = Box::leak(Box::new(beside(&OTHERWISE)));
    let why = Server::delegating("ci-apiserver", catalog).start().err().unwrap();
    assert_eq!(why, "error: feature gate \"PipelineRetries\" with different spec already exists");
}
