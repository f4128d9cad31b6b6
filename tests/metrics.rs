//! What a scrape shows: every metric that upstream promises (`STABLE`, `BETA`), of its type, with its labels, and fed.
//!
//! The table is upstream's `test/instrumentation/documentation/documentation-list.yaml` for kube-apiserver, without
//! `running_managed_controllers`, which a server without controller managers has no value for.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use common::Server;
use reqwest::{Client, Method};
use serde_json::{Value, json};

const TOKEN: &str = "admins-token-77aa";
/// The longest that work behind requests may take.
const PATIENCE: Duration = Duration::from_secs(150);
const REQUEST: &str = "component group resource scope subresource verb version";

/// Level, type, name, labels.
const PROMISED: [(&str, &str, &str, &str); 38] = [
    (
        "STABLE",
        "histogram",
        "apiserver_admission_controller_admission_duration_seconds",
        "name operation rejected type",
    ),
    ("STABLE", "histogram", "apiserver_admission_step_admission_duration_seconds", "operation rejected type"),
    ("STABLE", "histogram", "apiserver_admission_webhook_admission_duration_seconds", "name operation rejected type"),
    ("STABLE", "gauge", "apiserver_current_inflight_requests", "request_kind"),
    ("STABLE", "gauge", "apiserver_longrunning_requests", REQUEST),
    (
        "STABLE",
        "histogram",
        "apiserver_request_duration_seconds",
        "component dry_run group resource scope subresource verb version",
    ),
    (
        "STABLE",
        "counter",
        "apiserver_request_total",
        "code component dry_run group resource scope subresource verb version",
    ),
    ("STABLE", "gauge", "apiserver_requested_deprecated_apis", "group removed_release resource subresource version"),
    ("STABLE", "histogram", "apiserver_response_sizes", REQUEST),
    ("STABLE", "gauge", "apiserver_storage_objects", "resource"),
    ("STABLE", "gauge", "apiserver_storage_size_bytes", "storage_cluster_id"),
    (
        "BETA",
        "gauge",
        "apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds",
        "apiserver_id_hash status",
    ),
    (
        "BETA",
        "counter",
        "apiserver_authentication_config_controller_automatic_reloads_total",
        "apiserver_id_hash status",
    ),
    ("BETA", "histogram", "apiserver_cel_compilation_duration_seconds", ""),
    ("BETA", "histogram", "apiserver_cel_evaluation_duration_seconds", ""),
    ("BETA", "gauge", "apiserver_flowcontrol_current_executing_requests", "flow_schema priority_level"),
    ("BETA", "gauge", "apiserver_flowcontrol_current_executing_seats", "flow_schema priority_level"),
    ("BETA", "gauge", "apiserver_flowcontrol_current_inqueue_requests", "flow_schema priority_level"),
    ("BETA", "counter", "apiserver_flowcontrol_dispatched_requests_total", "flow_schema priority_level"),
    ("BETA", "gauge", "apiserver_flowcontrol_nominal_limit_seats", "priority_level"),
    ("BETA", "histogram", "apiserver_flowcontrol_request_wait_duration_seconds", "execute flow_schema priority_level"),
    ("BETA", "counter", "apiserver_storage_events_received_total", "group resource"),
    (
        "BETA",
        "histogram",
        "apiserver_validating_admission_policy_check_duration_seconds",
        "enforcement_action error_type policy policy_binding",
    ),
    (
        "BETA",
        "counter",
        "apiserver_validating_admission_policy_check_total",
        "enforcement_action error_type policy policy_binding",
    ),
    ("BETA", "counter", "apiserver_validation_declarative_validation_mismatch_total", ""),
    ("BETA", "counter", "apiserver_validation_declarative_validation_panic_total", ""),
    ("BETA", "histogram", "apiserver_watch_list_duration_seconds", "group resource scope version"),
    ("BETA", "counter", "disabled_metrics_total", ""),
    ("BETA", "counter", "hidden_metrics_total", ""),
    (
        "BETA",
        "gauge",
        "kubernetes_build_info",
        "build_date compiler git_commit git_tree_state git_version go_version major minor platform",
    ),
    ("BETA", "gauge", "kubernetes_feature_enabled", "name stage"),
    ("BETA", "counter", "registered_metrics_total", "deprecated_version stability_level"),
    ("BETA", "counter", "workqueue_adds_total", "name"),
    ("BETA", "gauge", "workqueue_depth", "name"),
    ("BETA", "gauge", "workqueue_longest_running_processor_seconds", "name"),
    ("BETA", "histogram", "workqueue_queue_duration_seconds", "name"),
    ("BETA", "gauge", "workqueue_unfinished_work_seconds", "name"),
    ("BETA", "histogram", "workqueue_work_duration_seconds", "name"),
];

/// A metric of a scrape.
#[derive(Default)]
struct Metric {
    help: String,
    kind: String,
    labels: BTreeSet<String>,
    /// Lines with a value that is not zero.
    fed: usize,
}

/// The metrics of a scrape in text form.
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
            metric.fed += usize::from(value != "0");
            let labels = series.split_once('{').map_or("", |(_, labels)| labels.trim_end_matches('}'));
            let names = labels.split("\",").filter_map(|pair| pair.split_once("=\"")).map(|(name, _)| name.to_owned());
            metric.labels.extend(names.filter(|name| name != "le"));
        }
    }
    found
}

struct Api(Client, String);

impl Api {
    async fn ask(&self, method: Method, path: &str, media_type: &str, body: &Value) -> (u16, String) {
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
        let (code, text) = self.ask(Method::POST, path, "application/json", &object).await;
        assert_eq!(code, 201, "{text}");
    }
}

/// A server with a configuration file of authentication, which this gives with a change of it.
fn start() -> (tempfile::TempDir, Server, Api) {
    let folder = tempfile::tempdir().unwrap();
    let (tokens, config) = (folder.path().join("tokens.csv"), folder.path().join("authentication.json"));
    fs::write(&tokens, format!("{TOKEN},admin,1,\"system:masters\"\n")).unwrap();
    fs::write(&config, authentication()).unwrap();
    let flags =
        [format!("--token-auth-file={}", tokens.display()), format!("--authentication-config={}", config.display())];
    let server = Server::start_with(folder.path(), &flags.each_ref().map(String::as_str));
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().danger_accept_invalid_certs(true).build().unwrap();
    let api = Api(client, server.url.clone());
    (folder, server, api)
}

fn authentication() -> String {
    json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": []}).to_string()
}

/// Requests that feed the metrics.
async fn load(api: &Api) {
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
    // The policy is followed in the background.
    loop {
        let unwanted = json!({"metadata": {"name": "unwanted"}});
        let (code, _) = api.ask(Method::POST, maps, "application/json", &unwanted).await;
        if code == 422 {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "the policy is not obeyed");
        api.ask(Method::DELETE, &format!("{maps}/unwanted"), "application/json", &json!({})).await;
    }
    api.create(maps, json!({"metadata": {"name": "a"}})).await;
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}});
    let path = format!("{maps}/a?fieldManager=m&dryRun=All");
    let (code, text) = api.ask(Method::PATCH, &path, "application/apply-patch+yaml", &applied).await;
    assert_eq!(code, 200, "{text}");
    assert_eq!(api.get(&format!("{maps}/absent")).await.0, 404);
    api.get("/api/v1/namespaces/default/endpoints").await;
    api.get("/livez").await;
    let streamed = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    api.get(&format!("{maps}?watch=true&timeoutSeconds=1&{streamed}")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_upstream_promises_is_there() {
    let (folder, _server, api) = start();
    load(&api).await;
    fs::write(folder.path().join("authentication.json"), authentication() + "\n").unwrap();
    let begin = Instant::now();
    let text = loop {
        let (_, text) = api.get("/metrics").await;
        let has = |name: &str| metrics(&text).get(name).is_some_and(|metric| metric.fed > 0);
        if has("apiserver_authentication_config_controller_automatic_reloads_total")
            && has("apiserver_storage_objects")
            && has("apiserver_watch_list_duration_seconds")
        {
            break text;
        }
        assert!(begin.elapsed() < PATIENCE, "{text}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let found = metrics(&text);
    let mut wrong = Vec::new();
    for (level, kind, name, labels) in PROMISED {
        let Some(metric) = found.get(name) else {
            wrong.push(format!("{name} is missing"));
            continue;
        };
        let expect: BTreeSet<String> = labels.split_whitespace().map(String::from).collect();
        if metric.kind != kind || metric.labels != expect || !metric.help.starts_with(&format!("[{level}] ")) {
            wrong.push(format!("{name}: {} {:?} {}", metric.kind, metric.labels, metric.help));
        }
        // What has not happened, or is over, is zero.
        let may_be_zero = [
            "depth",
            "unfinished",
            "longest",
            "mismatch",
            "panic",
            "disabled",
            "hidden",
            "inqueue",
            "longrunning",
            "wait",
        ];
        if metric.fed == 0 && !may_be_zero.iter().any(|part| name.contains(part)) {
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
    ] {
        let is_there = text.lines().any(|line| line.contains(series) && line.ends_with(value));
        assert!(is_there, "{series} {value}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrapes_have_other_forms() {
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
