//! Metrics of a scrape: every `STABLE` and `BETA` metric of upstream, and the `ALPHA` ones that
//! dashboards and alerts use.
//!
//! Each is checked for its type, its labels and a sample that is not zero. The table is upstream's
//! `test/instrumentation/documentation/documentation-list.yaml` for kube-apiserver, without
//! `running_managed_controllers`: only controller managers have a value for it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;
#[path = "metrics/tables.rs"]
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::Server;
use futures_util::future::join_all;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tables::{MAY_BE_ZERO, OTHERS, PROMISED};

const TOKEN: &str = "admins-token-77aa";
/// Token of a user for whose requests the server has no seats.
const THROTTLED_TOKEN: &str = "shy-token-88bb";
/// Maximum time until background work has happened.
const TIMEOUT: Duration = Duration::from_secs(150);
/// A metric of a scrape.
#[derive(Default)]
struct Metric {
    help: String,
    kind: String,
    labels: BTreeSet<String>,
    /// Number of samples with a value that is not zero.
    nonzero_samples: usize,
}

/// Parses the metrics of a scrape in text format.
fn metrics(text: &str) -> BTreeMap<String, Metric> {
    let mut found: BTreeMap<String, Metric> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap();
            current = name.to_owned();
            found.entry(current.clone()).or_default().help = help.to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            found.get_mut(&current).unwrap().kind = kind.split_once(' ').unwrap().1.to_owned();
        } else {
            let metric = found.get_mut(&current).unwrap();
            let (series, value) = line.rsplit_once(' ').unwrap();
            metric.nonzero_samples += usize::from(value != "0");
            let labels = series.split_once('{').map_or("", |(_, labels)| labels.trim_end_matches('}'));
            let names = labels.split("\",").filter_map(|pair| pair.split_once("=\"")).map(|(name, _)| name.to_owned());
            metric.labels.extend(names.filter(|name| name != "le"));
        }
    }
    found
}

struct Api(Client, String);

impl Api {
    async fn request(&self, method: Method, path: &str, media_type: &str, body: &Value) -> (u16, String) {
        let request = self.0.request(method, format!("{}{path}", self.1)).bearer_auth(TOKEN);
        let request = request.header("Content-Type", media_type).body(body.to_string());
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let response = self.0.get(format!("{}{path}", self.1)).bearer_auth(TOKEN).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    async fn create(&self, path: &str, object: Value) {
        let (code, text) = self.request(Method::POST, path, "application/json", &object).await;
        assert_eq!(code, 201, "{text}");
    }
}

/// Starts a server with configuration files for authentication and authorization; the caller can
/// change them.
fn start() -> (tempfile::TempDir, Server, Api) {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.csv");
    fs::write(&tokens, format!("{TOKEN},admin,1,\"system:masters\"\n{THROTTLED_TOKEN},shy,2\n")).unwrap();
    configure(folder.path(), "");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let flags = [
        format!("--token-auth-file={}", tokens.display()),
        format!("--authentication-config={}", file("authentication.json")),
        format!("--authorization-config={}", file("authorization.json")),
    ];
    let server = Server::start_with(folder.path(), &flags.each_ref().map(String::as_str));
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().danger_accept_invalid_certs(true).build().unwrap();
    let api = Api(client, server.url.clone());
    (folder, server, api)
}

/// Writes the configuration files, with a suffix that does not change their meaning.
fn configure(folder: &Path, behind: &str) {
    let authorizers = json!([{"type": "RBAC", "name": "rbac"}]);
    for (kind, file, part, value) in [
        ("AuthenticationConfiguration", "authentication.json", "jwt", json!([])),
        ("AuthorizationConfiguration", "authorization.json", "authorizers", authorizers),
    ] {
        let document = json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": kind, part: value});
        fs::write(folder.join(file), document.to_string() + behind).unwrap();
    }
}

/// Sends requests that feed the metrics.
async fn feed_request_metrics(api: &Api) {
    let admission = "/apis/admissionregistration.k8s.io/v1";
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]});
    let named = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
    let spec = json!({"matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.metadata.name != 'unwanted'"}]});
    api.create(&format!("{admission}/validatingadmissionpolicies"), named("policy", spec)).await;
    let spec = json!({"policyName": "policy", "validationActions": ["Deny"]});
    api.create(&format!("{admission}/validatingadmissionpolicybindings"), named("binding", spec)).await;
    let hook = json!({"name": "hook.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"}, "rules": [rule],
        "failurePolicy": "Ignore", "sideEffects": "None", "admissionReviewVersions": ["v1"]});
    let hook = json!({"metadata": {"name": "hook"}, "webhooks": [hook]});
    api.create(&format!("{admission}/validatingwebhookconfigurations"), hook).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let begin = Instant::now();
    // The plugin learns of the policy by a watch.
    loop {
        let unwanted = json!({"metadata": {"name": "unwanted"}});
        let (code, _) = api.request(Method::POST, maps, "application/json", &unwanted).await;
        if code == 422 {
            break;
        }
        assert!(begin.elapsed() < TIMEOUT, "the policy is not enforced");
        api.request(Method::DELETE, &format!("{maps}/unwanted"), "application/json", &json!({})).await;
    }
    api.create(maps, json!({"metadata": {"name": "a"}})).await;
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}});
    let path = format!("{maps}/a?fieldManager=m&dryRun=All");
    let (code, text) = api.request(Method::PATCH, &path, "application/apply-patch+yaml", &applied).await;
    assert_eq!(code, 200, "{text}");
    assert_eq!(api.get(&format!("{maps}/absent")).await.0, 404);
    api.get("/api/v1/namespaces/default/endpoints").await;
    api.get("/livez").await;
    let streamed = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    api.get(&format!("{maps}?watch=true&timeoutSeconds=1&{streamed}")).await;
}

/// Sends concurrent requests to a priority level without seats until one is rejected; a lone
/// request passes.
async fn exceed_priority_level(api: &Api) {
    let group = "/apis/flowcontrol.apiserver.k8s.io/v1";
    let limited = json!({"nominalConcurrencyShares": 0, "lendablePercent": 0,
        "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}});
    let level = json!({"metadata": {"name": "none"}, "spec": {"type": "Limited", "limited": limited}});
    api.create(&format!("{group}/prioritylevelconfigurations"), level).await;
    let rule = json!({"subjects": [{"kind": "User", "user": {"name": "shy"}}],
        "resourceRules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"], "namespaces": ["*"], "clusterScope": true}]});
    let spec = json!({"priorityLevelConfiguration": {"name": "none"}, "matchingPrecedence": 2, "rules": [rule]});
    api.create(&format!("{group}/flowschemas"), json!({"metadata": {"name": "shy"}, "spec": spec})).await;
    let begin = Instant::now();
    loop {
        let request =
            || api.0.get(format!("{}/api/v1/namespaces/default/pods", api.1)).bearer_auth(THROTTLED_TOKEN).send();
        let answers = join_all(std::iter::repeat_with(request).take(64)).await;
        if answers.into_iter().any(|answer| answer.unwrap().status() == 429) {
            return;
        }
        assert!(begin.elapsed() < TIMEOUT, "requests without a seat are not rejected");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sends requests that feed the metrics of services, pods, tokens and impersonation.
async fn feed_resource_metrics(api: &Api) {
    let admission = "/apis/admissionregistration.k8s.io/v1";
    let services = "/api/v1/namespaces/default/services";
    let service = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
    let fixed = json!({"clusterIP": "10.0.0.77", "type": "NodePort", "ports": [{"port": 80, "nodePort": 30100}]});
    api.create(services, service("fixed", fixed.clone())).await;
    api.create(services, service("free", json!({"ports": [{"port": 80}]}))).await;
    assert_eq!(api.request(Method::POST, services, "application/json", &service("taken", fixed)).await.0, 422);
    let port = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30100}]});
    assert_eq!(api.request(Method::POST, services, "application/json", &service("port", port)).await.0, 422);

    api.create("/api/v1/namespaces/default/serviceaccounts", json!({"metadata": {"name": "default"}})).await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    api.create("/api/v1/namespaces/default/pods", pod).await;
    let request = api.0.get(format!("{}/api/v1/pods", api.1)).bearer_auth(TOKEN).header("Impersonate-User", "a");
    assert_eq!(request.send().await.unwrap().status(), 403);

    let absent = json!({"group": "absent.example.com", "version": "v1", "groupPriorityMinimum": 1000,
        "versionPriority": 1, "service": {"namespace": "default", "name": "absent"}});
    let name = json!({"name": "v1.absent.example.com"});
    let service_of = json!({"metadata": name, "spec": absent});
    api.create("/apis/apiregistration.k8s.io/v1/apiservices", service_of).await;

    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]});
    let mutation = json!({"patchType": "ApplyConfiguration", "applyConfiguration": {
        "expression": "Object{metadata: Object.metadata{labels: {'mutated': 'yes'}}}"}});
    let spec = json!({"matchConstraints": {"resourceRules": [rule]}, "reinvocationPolicy": "Never",
        "matchConditions": [{"name": "c", "expression": "object.metadata.name != 'spared'"}], "mutations": [mutation]});
    api.create(&format!("{admission}/mutatingadmissionpolicies"), service("mutate", spec)).await;
    let spec = json!({"policyName": "mutate"});
    api.create(&format!("{admission}/mutatingadmissionpolicybindings"), service("mutate", spec)).await;
    let hook = json!({"name": "spared.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"}, "rules": [rule],
        "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "matchConditions": [{"name": "c", "expression": "object.metadata.name == 'matched'"}]});
    let hook = json!({"metadata": {"name": "spared"}, "webhooks": [hook]});
    api.create(&format!("{admission}/validatingwebhookconfigurations"), hook).await;
    let secrets = "/api/v1/namespaces/default/secrets?dryRun=All";
    let begin = Instant::now();
    // The plugins learn of policies and webhooks by a watch.
    loop {
        let request = |name: &'static str| async move {
            api.request(Method::POST, secrets, "application/json", &json!({"metadata": {"name": name}})).await
        };
        request("spared").await;
        let (matched, other) = (request("matched").await, request("other").await);
        if matched.0 == 500 && other.1.contains("mutated") {
            return;
        }
        assert!(begin.elapsed() < TIMEOUT, "{matched:?} {other:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upstream_metrics_are_served() {
    let (folder, _server, api) = start();
    feed_request_metrics(&api).await;
    exceed_priority_level(&api).await;
    feed_resource_metrics(&api).await;
    configure(folder.path(), "\n");
    let begin = Instant::now();
    let text = loop {
        let (_, text) = api.get("/metrics").await;
        let has = |name: &str| metrics(&text).get(name).is_some_and(|metric| metric.nonzero_samples > 0);
        if has("apiserver_authentication_config_controller_automatic_reloads_total")
            && has("apiserver_authorization_config_controller_automatic_reloads_total")
            && has("apiserver_storage_objects")
            && has("aggregator_unavailable_apiservice")
            && has("apiserver_watch_list_duration_seconds")
        {
            break text;
        }
        assert!(begin.elapsed() < TIMEOUT, "{text}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let found = metrics(&text);
    let mut wrong = Vec::new();
    let level = |name: &str| if name.starts_with("process_") || name.starts_with("go_") { "" } else { "ALPHA" };
    let others = OTHERS.map(|(kind, name, labels)| (level(name), kind, name, labels));
    for (level, kind, name, labels) in PROMISED.into_iter().chain(others) {
        let Some(metric) = found.get(name) else {
            wrong.push(format!("{name} is missing"));
            continue;
        };
        let expect: BTreeSet<String> = labels.split_whitespace().map(String::from).collect();
        let mark = if level.is_empty() { String::new() } else { format!("[{level}] ") };
        if metric.kind != kind || metric.labels != expect || !metric.help.starts_with(&mark) {
            wrong.push(format!("{name}: {} {:?} {}", metric.kind, metric.labels, metric.help));
        }
        if metric.nonzero_samples == 0 && !MAY_BE_ZERO.iter().any(|part| name.contains(part)) {
            wrong.push(format!("{name} is not fed"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (series, value) in [
        (
            "code=\"200\",component=\"apiserver\",dry_run=\"All\",group=\"\",resource=\"configmaps\",scope=\"resource\",subresource=\"\",verb=\"APPLY\"",
            "1",
        ),
        (
            "code=\"404\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"configmaps\",scope=\"resource\",subresource=\"\",verb=\"GET\"",
            "1",
        ),
        (
            "code=\"200\",component=\"\",dry_run=\"\",group=\"\",resource=\"\",scope=\"\",subresource=\"/livez\",verb=\"GET\"",
            "1",
        ),
        ("group=\"\",removed_release=\"\",resource=\"endpoints\",subresource=\"\",version=\"v1\"", "1"),
        ("enforcement_action=\"deny\",error_type=\"invalid_error\",policy=\"policy\",policy_binding=\"binding\"", "1"),
        ("name=\"hook.example.com\",operation=\"CREATE\",rejected=\"false\",type=\"validating\"", ""),
        ("flow_schema=\"shy\",priority_level=\"none\",reason=\"concurrency-limit\"", ""),
        ("allocator_allocated_ips{cidr=\"10.0.0.0/24\"}", " 3"),
        ("kube_apiserver_nodeport_allocator_allocated_ports", " 1"),
        ("kind=\"webhook\",name=\"spared.example.com\",operation=\"CREATE\",type=\"validate\"", ""),
        ("error_type=\"no_error\",policy=\"mutate\",policy_binding=\"mutate\"", ""),
        ("decision=\"allow\",mode=\"enforce\",policy_level=\"privileged\",policy_version=\"latest\"", " 1"),
        ("apiserver_impersonation_attempts_total{decision=\"allowed\",mode=\"user-info\"}", " 1"),
        ("apiserver_response_sizes_bucket{component=\"apiserver\"", ""),
        ("le=\"1e+06\"", ""),
    ] {
        let is_there = text.lines().any(|line| line.contains(series) && line.ends_with(value));
        assert!(is_there, "{series} {value}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_served_as_protobuf_and_slis() {
    let (_folder, _server, api) = start();
    let accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
                  text/plain;version=0.0.4;q=0.3";
    let request = api.0.get(format!("{}/metrics", api.1)).bearer_auth(TOKEN).header("Accept", accept);
    let response = request.send().await.unwrap();
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/vnd.google.protobuf"), "{kind}");
    let message = response.bytes().await.unwrap();
    assert!(message.windows(21).any(|part| part == b"kubernetes_build_info"), "a family of this name");

    api.get("/readyz").await;
    let (_, slis) = api.get("/metrics/slis").await;
    for line in [
        "# HELP kubernetes_healthcheck [STABLE] ",
        "# HELP kubernetes_healthchecks_total [STABLE] ",
        "kubernetes_healthcheck{name=\"etcd\",type=\"readyz\"} 1\n",
        "kubernetes_healthchecks_total{name=\"etcd\",status=\"success\",type=\"readyz\"} 1\n",
    ] {
        assert!(slis.contains(line), "{line}{slis}");
    }
}
