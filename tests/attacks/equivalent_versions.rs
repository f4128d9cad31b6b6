//! Attacks on admission policies and webhooks that match one version of a resource: the attacker
//! writes another version.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, APPLY_PATCH, Answer, JSON, JSON_PATCH, MERGE_PATCH, Target};

const MALLORY: &str = "mallory";
const NAMESPACE: &str = "team-a";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
const REFUSED: &str = "level is limited";

/// Creates a definition with the versions `v1` and `v2`, both served with all subresources.
async fn define_widgets(target: &Target) {
    let properties = json!({
        "spec": {"type": "object", "properties": {"level": {"type": "integer"}, "replicas": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    });
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
            "subresources": {
                "status": {},
                "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
            },
        })
    };
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version("v1"), version("v2")],
        },
    });
    target.create(DEFINITIONS, &definition).await;
    target.await_right(ADMIN, &widgets("v2")).await;
}

fn widgets(version: &str) -> String {
    format!("/apis/example.com/{version}/namespaces/{NAMESPACE}/widgets")
}

fn widget(version: &str, name: &str, level: u32) -> Value {
    json!({
        "apiVersion": format!("example.com/{version}"), "kind": "Widget",
        "metadata": {"name": name}, "spec": {"level": level, "replicas": 1},
    })
}

/// Creates a policy with a binding. `rule` lists groups, versions and resources; `expression` is
/// the validation.
async fn create_policy(target: &Target, name: &str, rule: Value, expression: &str) {
    let mut rule = rule;
    rule["operations"] = json!(["*"]);
    let policy = json!({
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression, "message": REFUSED}],
        },
    });
    target.create(&format!("{ADMISSION}/validatingadmissionpolicies"), &policy).await;
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]}});
    target.create(&format!("{ADMISSION}/validatingadmissionpolicybindings"), &binding).await;
}

/// Creates the object as the administrator until it is rejected: the plugin learns of policies by a
/// watch.
async fn await_rejection(target: &Target, path: &str, object: &Value) {
    let begin = Instant::now();
    let path = format!("{path}?dryRun=All");
    while target.send(ADMIN, Method::POST, &path, JSON, object.to_string()).await.code != 422 {
        assert!(begin.elapsed() < Duration::from_secs(60), "the policy does not refuse {object}");
    }
}

fn assert_rejected(answer: &Answer, what: &str) {
    let message = answer.body["message"].as_str().unwrap_or_default();
    assert!(answer.code == 422 && message.contains(REFUSED), "{what}: {} {}", answer.code, answer.body);
}

/// A policy on `v1` of a custom resource validates each write through `v2`, of the object and of
/// its subresources.
#[tokio::test]
async fn policy_validates_custom_resources_in_other_versions() {
    let target = Target::start(&[]);
    target.create_namespace(NAMESPACE).await;
    let resources = ["widgets", "widgets/status", "widgets/scale"];
    target
        .grant(MALLORY, NAMESPACE, json!([{"apiGroups": ["example.com"], "resources": resources, "verbs": ["*"]}]))
        .await;
    define_widgets(&target).await;
    target.create(&widgets("v1"), &widget("v1", "good", 1)).await;
    let rule = json!({"apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["widgets"]});
    // The expression receives the object in the version of the rule.
    let expression = "request.operation == 'DELETE' ? oldObject.spec.level != 1 : \
                      object.apiVersion == 'example.com/v1' && request.resource.version == 'v1' && object.spec.level < 5";
    create_policy(&target, "levels", rule, expression).await;
    await_rejection(&target, &widgets("v1"), &widget("v1", "evil", 9)).await;

    let (path, evil) = (widgets("v2"), widget("v2", "evil", 9));
    let created = target.send(MALLORY, Method::POST, &path, JSON, evil.to_string()).await;
    assert_rejected(&created, "POST");
    let applied = format!("{path}/evil?fieldManager=mallory");
    let applied = target.send(MALLORY, Method::PATCH, &applied, APPLY_PATCH, evil.to_string()).await;
    assert_rejected(&applied, "apply");
    let good = format!("{path}/good");
    let raised = json!({"spec": {"level": 9}});
    let operations = json!([{"op": "replace", "path": "/spec/level", "value": 9}]);
    let mut replaced = target.get(MALLORY, &good).await.body;
    replaced["spec"]["level"] = 9.into();
    for (method, media_type, body) in
        [(Method::PUT, JSON, replaced), (Method::PATCH, MERGE_PATCH, raised), (Method::PATCH, JSON_PATCH, operations)]
    {
        let answer = target.send(MALLORY, method, &good, media_type, body.to_string()).await;
        assert_rejected(&answer, media_type);
    }
    assert_rejected(&target.send(MALLORY, Method::DELETE, &good, JSON, "").await, "DELETE");
    assert_rejected(&target.send(MALLORY, Method::DELETE, &path, JSON, "").await, "DELETE of the collection");
    let created = target.send(MALLORY, Method::POST, &path, JSON, widget("v2", "fine", 2).to_string()).await;
    assert_eq!(created.code, 201, "{}", created.body);
    assert_eq!(target.get(ADMIN, &good).await.body["spec"]["level"], 1);
}

/// The same for the subresources `status`, whose body is the object, and `scale`, whose body is
/// another kind.
#[tokio::test]
async fn policy_validates_subresources_in_other_versions() {
    let target = Target::start(&[]);
    target.create_namespace(NAMESPACE).await;
    define_widgets(&target).await;
    target.create(&widgets("v1"), &widget("v1", "good", 1)).await;
    let rule = |resource: &str| json!({"apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": [resource]});
    create_policy(&target, "status", rule("widgets/status"), "object.status.replicas < 5").await;
    create_policy(&target, "scale", rule("widgets/scale"), "object.spec.replicas < 5").await;
    let scaler =
        json!({"apiGroups": ["autoscaling"], "apiVersions": ["v2"], "resources": ["horizontalpodautoscalers/status"]});
    create_policy(
        &target,
        "autoscalers",
        scaler,
        "object.apiVersion == 'autoscaling/v2' && object.status.desiredReplicas < 5",
    )
    .await;
    let bodies = [("status", json!({"status": {"replicas": 9}})), ("scale", json!({"spec": {"replicas": 9}}))];
    let autoscalers = format!("/apis/autoscaling/v1/namespaces/{NAMESPACE}/horizontalpodautoscalers");
    let autoscaler = json!({
        "metadata": {"name": "good"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}},
    });
    target.create(&autoscalers, &autoscaler).await;
    let status = json!({"status": {"currentReplicas": 1, "desiredReplicas": 9}});
    let begin = Instant::now();
    let attacks: Vec<(String, &Value)> = ["v1", "v2"]
        .into_iter()
        .flat_map(|version| bodies.iter().map(move |(name, body)| (format!("{}/good/{name}", widgets(version)), body)))
        .chain([(format!("{autoscalers}/good/status"), &status)])
        .collect();
    for (path, body) in attacks {
        loop {
            let dry = format!("{path}?dryRun=All");
            let answer = target.send(ADMIN, Method::PATCH, &dry, MERGE_PATCH, body.to_string()).await;
            // The plugin learns of policies by a watch.
            if answer.code == 200 && begin.elapsed() < Duration::from_secs(20) {
                continue;
            }
            assert_rejected(&answer, &path);
            break;
        }
    }
}

/// A policy on events of one group validates events that are written through the other group.
#[tokio::test]
async fn policy_validates_events_in_other_group() {
    let target = Target::start(&[]);
    target.create_namespace(NAMESPACE).await;
    target
        .grant(
            MALLORY,
            NAMESPACE,
            json!([{"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["*"]}]),
        )
        .await;
    let rule = json!({"apiGroups": ["events.k8s.io"], "apiVersions": ["v1"], "resources": ["events"]});
    let expression = "object.apiVersion == 'events.k8s.io/v1' && object.note != 'evil'";
    create_policy(&target, "events", rule, expression).await;
    let event = |note: &str| {
        let about = json!({"kind": "Pod", "name": "p", "namespace": NAMESPACE});
        json!({
            "metadata": {"name": format!("e-{note}")}, "involvedObject": about, "regarding": about,
            "message": note, "note": note, "type": "Normal", "reason": "R", "action": "A",
            "reportingComponent": "example.com/c", "reportingController": "example.com/c",
            "reportingInstance": "i", "eventTime": "2024-01-01T00:00:00.000000Z",
        })
    };
    await_rejection(&target, &format!("/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"), &event("evil")).await;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/events");
    let created = target.send(MALLORY, Method::POST, &path, JSON, event("evil").to_string()).await;
    assert_rejected(&created, "core event");
    let created = target.send(MALLORY, Method::POST, &path, JSON, event("good").to_string()).await;
    assert_eq!(created.code, 201, "{}", created.body);
}
