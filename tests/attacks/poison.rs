//! Poisoned bodies: small or permitted requests of high cost, one generator for each kind of the
//! security review.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{JSON, JSON_PATCH, STRATEGIC_PATCH, Target, YAML};

/// The namespace of the requests.
pub const NAMESPACE: &str = "poison";

/// The config map that the patches change.
const PATCHED: &str = "patched";

/// A request of high cost.
pub struct Poison {
    /// The finding of the review, and the distinctive property of the request.
    pub name: &'static str,
    pub method: Method,
    pub path: String,
    pub media_type: &'static str,
    pub body: Vec<u8>,
}

/// Creates the required objects and the roles that let `user` send the requests.
pub async fn prepare(target: &Target, user: &str) {
    target.create_namespace(NAMESPACE).await;
    let object = json!({"metadata": {"name": PATCHED}, "data": {"key": "value"}});
    target.create(&format!("/api/v1/namespaces/{NAMESPACE}/configmaps"), &object).await;
    let all = json!([
        {"apiGroups": [""], "resources": ["configmaps", "pods"], "verbs": ["*"]},
        {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims"], "verbs": ["*"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]},
    ]);
    target.grant(user, NAMESPACE, all).await;
}

/// Returns one request of each kind.
pub fn all() -> Vec<Poison> {
    vec![
        post("B1: depth through YAML aliases", "configmaps", YAML, deep_yaml()),
        patch("B2: JSON patch that copies a document into itself", JSON_PATCH, doubling_patch()),
        post("B3: long chain in CEL", "resourceclaims", JSON, claim(&["1"; 2_000].join("+"))),
        post("B4: aliases of a long scalar", "configmaps", YAML, repeated_scalar()),
        post("B5: many anchors", "configmaps", YAML, many_anchors()),
        post("B6: role that multiplies out", "roles", JSON, wide_role()),
        post("B7: many owner references", "configmaps", JSON, many_owners()),
        post("B8: containers that are empty", "pods", JSON, empty_containers()),
        patch("B13: many finalizers with an order", STRATEGIC_PATCH, ordered_finalizers()),
        post("a large config map", "configmaps", JSON, large_config_map()),
        post("a large config map in YAML", "configmaps", YAML, large_config_map()),
    ]
}

fn post(name: &'static str, resource: &str, media_type: &'static str, body: impl Into<Vec<u8>>) -> Poison {
    let root = match resource {
        "resourceclaims" => "/apis/resource.k8s.io/v1",
        "roles" => "/apis/rbac.authorization.k8s.io/v1",
        _ => "/api/v1",
    };
    let path = format!("{root}/namespaces/{NAMESPACE}/{resource}?fieldValidation=Ignore&dryRun=All");
    Poison { name, method: Method::POST, path, media_type, body: body.into() }
}

fn patch(name: &'static str, media_type: &'static str, body: impl Into<Vec<u8>>) -> Poison {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{PATCHED}?dryRun=All");
    Poison { name, method: Method::PATCH, path, media_type, body: body.into() }
}

/// YAML in which each line nests the previous one.
fn deep_yaml() -> String {
    let (open, close) = ("[".repeat(40), "]".repeat(40));
    let line = |i: usize| format!("k{i}: &a{i} {open}*a{}{close}\n", i - 1);
    let lines: String = (1..100).map(line).collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: deep}}\nk0: &a0 []\n{lines}")
}

/// A JSON patch in which each operation doubles the depth.
fn doubling_patch() -> String {
    let copy = |step: u32| json!({"op": "copy", "from": "", "path": "/x".repeat(1 << step)});
    Value::from_iter((0..14).map(copy)).to_string()
}

fn claim(expression: &str) -> String {
    let selectors = json!([{"cel": {"expression": expression}}]);
    let request = json!({"name": "a", "exactly": {"deviceClassName": "a", "selectors": selectors}});
    let meta = json!({"generateName": "claim-"});
    let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta,
                       "spec": {"devices": {"requests": [request]}}});
    claim.to_string()
}

fn repeated_scalar() -> String {
    let (scalar, aliases) = ("x".repeat(115_000), "*a,".repeat(38_000));
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: aliases}}\ndata: {{a: &a {scalar}}}\nlist: [{aliases}]\n"
    )
}

fn many_anchors() -> String {
    let lines: String = (0..150_000).map(|i| format!("- &a{i} x\n- *a0\n")).collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: anchors}}\nlist:\n{lines}")
}

/// A role of nine kilobytes that expands to a hundred million rules.
fn wide_role() -> String {
    let names = |prefix: &str| (0..460).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let rule = json!({"apiGroups": names("g"), "resources": names("r"), "verbs": names("v")});
    let meta = json!({"generateName": "wide-"});
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta, "rules": [rule]}).to_string()
}

fn many_owners() -> String {
    let owner = |i: usize| json!({"apiVersion": "v1", "kind": "Pod", "name": format!("p{i}"), "uid": format!("u{i}")});
    let meta = json!({"generateName": "owned-", "ownerReferences": (0..30_000).map(owner).collect::<Vec<_>>()});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}).to_string()
}

fn empty_containers() -> String {
    let containers = vec!["{}"; 900_000].join(",");
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"generateName":"p-"}},"spec":{{"containers":[{containers}]}}}}"#
    )
}

fn ordered_finalizers() -> String {
    let names: Vec<String> = (0..60_000).map(|i| format!("a.b/{i}")).collect();
    json!({"metadata": {"$setElementOrder/finalizers": names, "finalizers": names}}).to_string()
}

/// A body of the maximum size that only validation rejects.
fn large_config_map() -> String {
    let meta = json!({"generateName": "large-"});
    let data: serde_json::Map<String, Value> =
        (0..2_900).map(|i| (format!("key-{i}"), Value::from("v".repeat(1_000)))).collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}).to_string()
}
