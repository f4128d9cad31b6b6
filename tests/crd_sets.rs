//! Custom resource definitions of real projects: each is established and documented, and accepts an
//! object by server-side apply.
//!
//! `CRD_SETS=<folder> cargo test -p kube-apiserver --test crd_sets -- --nocapture` reads every YAML
//! file below a folder, such as the `config/crd` of a project. It prints a result for each
//! definition. The default is a small built-in set.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use std::path::Path;
use std::time::Duration;

use common::Server;
use http::Request;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client};
use machinery::json::Issues;
use serde_json::{Map, Value, json};

/// Maximum time until a definition is established.
const TIMEOUT: Duration = Duration::from_secs(60);

const OWN: &str = r#"
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: widgets.sets.example.com}
spec:
  group: sets.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size, phase, parts]
            properties:
              size: {type: integer, minimum: 3}
              phase: {type: string, enum: [Ready, Waiting]}
              parts:
                type: array
                minItems: 1
                items: {type: object, required: [name], properties: {name: {type: string, minLength: 2}}}
---
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: policies.sets.example.com}
spec:
  group: sets.example.com
  scope: Cluster
  names: {plural: policies, singular: policy, kind: Policy, listKind: PolicyList}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"#;

/// Reads every definition in the YAML files below a folder.
fn read(folder: &Path, found: &mut Vec<Value>) {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.extend(definitions(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Returns the definitions among the documents of a text; documents that are not YAML, such as
/// templates, are skipped.
fn definitions(text: &str) -> Vec<Value> {
    let documents = text.split("\n---").map(|part| part.trim_start_matches('-'));
    let values = documents.filter_map(|part| machinery::yaml::to_value(part.as_bytes(), &mut Issues::ignore()).ok());
    values.filter(|value| value["kind"] == "CustomResourceDefinition").collect()
}

/// Returns a minimal value with everything that a schema requires.
fn sample(schema: &Value) -> Value {
    if let Some(value) = schema.get("default").or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    let least = |name: &str| schema[name].as_i64().unwrap_or(0);
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            required.map(|name| (name.to_owned(), sample(&schema["properties"][name]))).collect::<Map<_, _>>().into()
        }
        Some("array") => (0..least("minItems")).map(|_| sample(&schema["items"])).collect(),
        Some("integer" | "number") => least("minimum").max(1).into(),
        Some("boolean") => true.into(),
        Some("string") if schema["format"] == "date-time" => "2026-01-02T03:04:05Z".into(),
        Some("string") => "a".repeat(least("minLength").max(1) as usize).into(),
        _ => 1.into(),
    }
}

/// Sends a request; returns the code and body of the response.
async fn send(client: &Client, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).header("Content-Type", "application/apply-patch+yaml");
    let answer = client.request_text(request.body(body.to_string().into_bytes()).unwrap()).await;
    match answer {
        Ok(text) => (200, serde_json::from_str(&text).unwrap()),
        Err(kube::Error::Api(status)) => (status.code, json!(status.message)),
        Err(other) => panic!("{method} {path}: {other}"),
    }
}

/// Installs a definition and uses it in each served version; returns a summary.
async fn check_definition(client: &Client, definition: &Value) -> String {
    let name = definition["metadata"]["name"].as_str().unwrap();
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}?fieldManager=test");
    let (code, answer) = send(client, "PATCH", &path, definition).await;
    assert_eq!(code, 200, "{name}: {answer}");
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let established = await_condition(api, name, conditions::is_crd_established());
    tokio::time::timeout(TIMEOUT, established).await.unwrap_or_else(|_| panic!("{name} is not established")).unwrap();
    let mut notes = Vec::new();
    for version in definition["spec"]["versions"].as_array().unwrap().iter().filter(|v| v["served"] == true) {
        await_documented(client, definition, version).await;
        notes.push(round_trip(client, definition, version).await);
    }
    notes.join("; ")
}

/// Waits until the OpenAPI documents contain the kind, as `kubectl explain` requires; this follows
/// the condition `Established`.
async fn await_documented(client: &Client, definition: &Value, version: &Value) {
    let (group, version) = (definition["spec"]["group"].as_str().unwrap(), version["name"].as_str().unwrap());
    let kind = json!({"group": group, "version": version, "kind": definition["spec"]["names"]["kind"]});
    let is_of = |schema: &Value| schema["x-kubernetes-group-version-kind"][0] == kind;
    let documented = async {
        loop {
            let (_, document) = send(client, "GET", &format!("/openapi/v3/apis/{group}/{version}"), &Value::Null).await;
            if document["components"]["schemas"].as_object().is_some_and(|schemas| schemas.values().any(is_of)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(TIMEOUT, documented).await;
    assert!(found.is_ok(), "{group}/{version} documents no {}", kind["kind"]);
}

/// Applies a sample; fails unless its fields are stored and a repeated apply changes nothing.
///
/// Validation rules may require more fields than schemas.
async fn round_trip(client: &Client, definition: &Value, version: &Value) -> String {
    let (spec, version_name) = (&definition["spec"], version["name"].as_str().unwrap());
    let (group, plural) = (spec["group"].as_str().unwrap(), spec["names"]["plural"].as_str().unwrap());
    let namespace = if spec["scope"] == "Namespaced" { "namespaces/default/" } else { "" };
    let mut object = sample(&version["schema"]["openAPIV3Schema"]);
    if !object.is_object() {
        object = json!({});
    }
    object["apiVersion"] = format!("{group}/{version_name}").into();
    object["kind"] = spec["names"]["kind"].clone();
    object["metadata"] = json!({"name": "sample"});
    let path = format!("/apis/{group}/{version_name}/{namespace}{plural}/sample?fieldManager=test&force=true");
    let (code, first) = send(client, "PATCH", &path, &object).await;
    if code == 422 {
        return format!("{version_name} requires more than its schema: {}", first.as_str().unwrap_or_default());
    }
    assert_eq!(code, 200, "{plural}.{group} {version_name}: {first}");
    for (name, value) in
        object.as_object().unwrap().iter().filter(|(name, _)| !matches!(name.as_str(), "metadata" | "status"))
    {
        assert!(contains(&first[name], value), "{plural}.{group} {version_name}: {name} is {}", first[name]);
    }
    // The second apply stores the defaults of the status.
    let (_, second) = send(client, "PATCH", &path, &object).await;
    let (code, third) = send(client, "PATCH", &path, &object).await;
    let is_same = code == 200 && second["metadata"]["resourceVersion"] == third["metadata"]["resourceVersion"];
    assert!(is_same, "{plural}.{group} {version_name}: applied again, {second} became {third}");
    format!("{version_name} ok")
}

/// Reports whether a value contains everything in `expected`; defaults may have been added.
fn contains(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Object(value), Value::Object(expected)) => {
            expected.iter().all(|(name, expected)| value.get(name).is_some_and(|value| contains(value, expected)))
        }
        (Value::Array(value), Value::Array(expected)) => {
            value.len() == expected.len()
                && value.iter().zip(expected).all(|(value, expected)| contains(value, expected))
        }
        _ => value == expected,
    }
}

#[tokio::test]
async fn project_definitions_are_served() {
    let mut all = Vec::new();
    match std::env::var_os("CRD_SETS") {
        Some(folder) => read(Path::new(&folder), &mut all),
        None => all = definitions(OWN),
    }
    assert!(!all.is_empty(), "there are no definitions");
    let server = Server::start();
    let client = client::connect(&server).await;
    let mut worked = 0;
    for definition in &all {
        let summary = check_definition(&client, definition).await;
        worked += usize::from(!summary.contains("requires more"));
        println!("{}: {summary}", definition["metadata"]["name"].as_str().unwrap());
    }
    println!("{} definitions are served; objects of {worked} need no more than their schema requires", all.len());
    assert!(std::env::var_os("CRD_SETS").is_some() || worked == all.len());
}
