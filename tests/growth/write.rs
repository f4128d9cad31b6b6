//! Ways of writing an object, and a server to write to.

use std::fs;

use reqwest::{Certificate, Client, Method as Verb};
use serde_json::{Value, json};

use crate::common::Server;
use crate::fields::{Elements, Place};
use crate::plan::Combination;

/// A way of writing an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Create,
    Apply,
    Update,
    JsonPatch,
    MergePatch,
    StrategicPatch,
}

impl Method {
    /// All of them; those that need no stored object come first.
    pub const ALL: [Method; 6] =
        [Method::Create, Method::Apply, Method::Update, Method::JsonPatch, Method::MergePatch, Method::StrategicPatch];
}

/// What objects need to be valid beyond the fields that are declared as required.
const STORED: [(&str, &str, &str); 20] = [
    ("", "ConfigMap", r#"{}"#),
    ("", "Pod", r#"{"spec": {"containers": [{"name": "e0", "image": "i"}]}}"#),
    ("", "Service", r#"{"spec": {"ports": [{"port": 1, "name": "e0"}]}}"#),
    (
        "apps",
        "Deployment",
        r#"{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "e0", "image": "i"}]}}}}"#,
    ),
    ("rbac.authorization.k8s.io", "ClusterRole", r#"{"rules": []}"#),
    ("networking.k8s.io", "NetworkPolicy", r#"{"spec": {"podSelector": {}}}"#),
    (
        "apps",
        "DaemonSet",
        r#"{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "e0", "image": "i"}]}}}}"#,
    ),
    (
        "apps",
        "ReplicaSet",
        r#"{"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "e0", "image": "i"}]}}}}"#,
    ),
    (
        "apps",
        "StatefulSet",
        r#"{"spec": {"serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "e0", "image": "i"}]}}}}"#,
    ),
    ("apps", "ControllerRevision", r#"{"revision": 1, "data": {"a": "b"}}"#),
    (
        "batch",
        "Job",
        r#"{"spec": {"template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "e0", "image": "i"}]}}}}"#,
    ),
    (
        "batch",
        "CronJob",
        r#"{"spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "e0", "image": "i"}]}}}}}}"#,
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        r#"{"spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1",
            "kind": "Deployment", "name": "d"}}}"#,
    ),
    (
        "",
        "PersistentVolume",
        r#"{"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/a"}}}"#,
    ),
    (
        "",
        "PersistentVolumeClaim",
        r#"{"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}"#,
    ),
    (
        "",
        "ReplicationController",
        r#"{"spec": {"selector": {"a": "b"}, "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "e0", "image": "i"}]}}}}"#,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        r#"{"spec": {"validations": [{"expression": "true"}], "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}]}}}"#,
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicy",
        r#"{"spec": {"reinvocationPolicy": "Never", "mutations": [{"patchType": "JSONPatch",
            "jsonPatch": {"expression": "[]"}}], "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}]}}}"#,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        r#"{"spec": {"policyName": "absent", "validationActions": ["Deny"]}}"#,
    ),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", r#"{"spec": {"policyName": "absent"}}"#),
];

/// The object that updates and patches are about.
const NAME: &str = "growth";

const NAMESPACE: &str = "default";

pub struct Writer {
    server: Server,
    http: Client,
}

/// A request that is dry: it does all of the work and stores nothing.
pub struct Request {
    verb: Verb,
    path: String,
    media_type: &'static str,
    body: Vec<u8>,
}

impl Request {
    pub fn size(&self) -> usize {
        self.body.len()
    }
}

impl Writer {
    /// Starts a server with the stored objects.
    pub async fn start() -> Writer {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens.csv");
        fs::write(&tokens, "growth-token,admin,1,system:masters\n").unwrap();
        let data = tempfile::tempdir().unwrap().keep();
        let flag = format!("--token-auth-file={}", tokens.display());
        let server = Server::start_with(&data, &[&flag]);
        let kubeconfig = fs::read_to_string(server.kubeconfig()).unwrap();
        let line = kubeconfig.lines().find_map(|line| line.trim().strip_prefix("certificate-authority-data: "));
        let encoded = line.unwrap().trim_matches('"');
        let pem = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, encoded).unwrap();
        let http = Client::builder().add_root_certificate(Certificate::from_pem(&pem).unwrap()).build().unwrap();
        let writer = Writer { server, http };
        let account = json!({"metadata": {"name": "default"}});
        let code = writer.post(&format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts"), &account).await;
        assert!([201, 409].contains(&code), "the service account of pods: {code}");
        writer
    }

    /// Creates an object of the kind of this place; whether the object is there.
    pub async fn store(&self, place: &Place) -> bool {
        let object = stored(place).unwrap_or_else(|| place.object(NAME, Elements::Distinct, 0));
        let code = self.post(&collection(place), &object).await;
        let is_there = [201, 409].contains(&code);
        if !is_there && std::env::var("GROWTH_LOG").is_ok() {
            eprintln!("no object: {code} {place} {object}");
        }
        is_there
    }

    async fn post(&self, path: &str, object: &Value) -> u16 {
        let url = format!("{}{path}", self.server.url);
        let request = self.http.post(url).bearer_auth("growth-token").header("Content-Type", "application/json");
        request.body(object.to_string()).send().await.unwrap().status().as_u16()
    }

    pub fn process_id(&self) -> u32 {
        self.server.process_id()
    }

    pub fn request(&self, combination: &Combination, count: usize) -> Request {
        let Combination { place, method, elements } = combination;
        let elements = *elements;
        let collection = collection(place);
        let one = format!("{collection}/{NAME}");
        let object = || place.object(NAME, elements, count);
        let request = |verb, path: &str, query: &str, media_type, body: Value| Request {
            verb,
            path: format!("{path}?dryRun=All{query}"),
            media_type,
            body: body.to_string().into_bytes(),
        };
        match method {
            Method::Create => {
                request(Verb::POST, &collection, "", "application/json", place.object("new", elements, count))
            }
            Method::Apply => {
                let query = "&fieldManager=growth&force=true";
                request(Verb::PATCH, &one, query, "application/apply-patch+yaml", object())
            }
            Method::Update => request(Verb::PUT, &one, "", "application/json", object()),
            Method::MergePatch => request(Verb::PATCH, &one, "", "application/merge-patch+json", object()),
            Method::StrategicPatch => {
                request(Verb::PATCH, &one, "", "application/strategic-merge-patch+json", object())
            }
            Method::JsonPatch => {
                let operation =
                    |(name, value): (&String, &Value)| json!({"op": "add", "path": format!("/{name}"), "value": value});
                let operations = object().as_object().unwrap().iter().map(operation).collect();
                request(Verb::PATCH, &one, "", "application/json-patch+json", operations)
            }
        }
    }

    /// Sends a request and reads the answer; its code.
    pub async fn send(&self, request: &Request) -> u16 {
        let url = format!("{}{}", self.server.url, request.path);
        let builder = self.http.request(request.verb.clone(), url).bearer_auth("growth-token");
        let builder = builder.header("Content-Type", request.media_type).body(request.body.clone());
        let response = builder.send().await.unwrap();
        let code = response.status().as_u16();
        response.bytes().await.unwrap();
        code
    }
}

fn stored(place: &Place) -> Option<Value> {
    let is_kind = |(group, kind, _): &&(&str, &str, &str)| *group == place.kind.group && *kind == place.kind.kind;
    let (_, _, text) = STORED.iter().find(is_kind)?;
    let mut object: Value = serde_json::from_str(text).unwrap();
    object["metadata"] = json!({"name": NAME});
    Some(object)
}

fn collection(place: &Place) -> String {
    let root = match place.kind.group {
        "" => format!("/api/{}", place.kind.version),
        group => format!("/apis/{group}/{}", place.kind.version),
    };
    match place.resource.namespaced {
        true => format!("{root}/namespaces/{NAMESPACE}/{}", place.resource.plural),
        false => format!("{root}/{}", place.resource.plural),
    }
}
