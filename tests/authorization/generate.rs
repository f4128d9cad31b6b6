//! Generates requests, from plain ones to those that parsers may interpret differently.

use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::json;

use crate::common::wire::{self, Answer};
use crate::policy::ALLOWED;
use crate::world::{NAMESPACES, NODES, Object, World};

/// A request as it is sent.
pub struct Request {
    /// The distinctive property of the request.
    pub shape: &'static str,
    pub user: String,
    pub token: String,
    pub method: &'static str,
    /// Path and query, byte for byte.
    pub target: String,
    pub accept: &'static str,
    pub content_type: &'static str,
    pub body: String,
}

impl Request {
    /// Returns the parts that are sent.
    pub fn wire(&self) -> wire::Request<'_> {
        let Request { method, target, token, accept, content_type, body, .. } = self;
        wire::Request { method, target, token, accept, content_type, body }
    }
}

/// Maximum number of retained continue tokens.
const MAX_TOKENS: usize = 200;

const METHODS: [&str; 7] = ["GET", "GET", "DELETE", "PATCH", "PUT", "POST", "HEAD"];

/// Returns the HTTP method of a Kubernetes verb.
fn method_of(verb: &str) -> &'static str {
    match verb {
        "create" => "POST",
        "update" => "PUT",
        "patch" => "PATCH",
        "delete" | "deletecollection" => "DELETE",
        _ => "GET",
    }
}

const ACCEPTS: [&str; 7] = [
    "application/json",
    "application/json",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "application/yaml",
    "application/vnd.kubernetes.protobuf, application/json",
];
const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];
/// Field selectors; the first ones select an object by name.
const SELECTORS: [&str; 12] = [
    "metadata.name=allowed",
    "metadata.name=allowed,metadata.namespace=team-a",
    "metadata.name=other",
    "metadata.name==allowed",
    "metadata.name!=x",
    "type!=x",
    "metadata.name!=allowed",
    "spec.nodeName=node-a",
    "metadata.namespace=team-b",
    "status.phase!=x",
    "",
    ",",
];
/// Queries around a selector; `{}` is the selector.
const WRAPPERS: [(&str, &str); 12] = [
    ("plain", "fieldSelector={}"),
    ("repeated parameter", "fieldSelector={}&fieldSelector=metadata.name%3Dallowed"),
    ("repeated parameter", "fieldSelector=metadata.name%3Dallowed&fieldSelector={}"),
    ("empty parameter", "fieldSelector&fieldSelector={}"),
    ("empty parameter", "fieldSelector=&fieldSelector=metadata.name%3Dallowed"),
    ("semicolon", "fieldSelector=metadata.name%3Dallowed;x=1&fieldSelector={}"),
    ("semicolon", "x=1;fieldSelector=metadata.name%3Dallowed&y=2"),
    ("broken escape", "fieldSelector=metadata.name%3Dallowed%zz&fieldSelector={}"),
    ("broken escape", "x=%&fieldSelector=metadata.name%3Dallowed"),
    ("broken escape", "fieldSelector=metadata.name%3Dallowed%4&limit=500"),
    ("escaped key", "field%53elector={}"),
    ("plus sign", "fieldSelector=+{}"),
];
const OTHERS: [&str; 16] = [
    "limit=1",
    "limit=500",
    "resourceVersion=0",
    "resourceVersion=0&resourceVersionMatch=NotOlderThan",
    "resourceVersion=1&resourceVersionMatch=Exact",
    "labelSelector=app%3Dallowed",
    "labelSelector=app",
    "labelSelector=!nothing",
    "watch=1",
    "watch=true&resourceVersion=0",
    "watch=0",
    "watch=false&watch=true",
    "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
    "watch=1;x",
    "pretty=1",
    "timeoutSeconds=1",
];

/// Generates requests from a seed.
pub struct Generator {
    random: StdRng,
    /// Continue tokens of all users.
    tokens: Arc<Mutex<Vec<String>>>,
}

impl Generator {
    pub fn new(seed: u64, tokens: Arc<Mutex<Vec<String>>>) -> Generator {
        Generator { random: StdRng::seed_from_u64(seed), tokens }
    }

    /// Keeps the continue token of a response, for requests of other users.
    pub fn learn(&mut self, answer: &Answer) {
        let text = answer.text();
        let Some((_, rest)) = text.split_once("\"continue\":\"") else { return };
        let Some(token) = rest.split('"').next().filter(|token| !token.is_empty()) else { return };
        let mut tokens = self.tokens.lock().unwrap();
        if tokens.len() < MAX_TOKENS {
            tokens.push(token.to_owned());
        }
    }

    pub fn request(&mut self, world: &World) -> Request {
        if self.random.random_bool(0.12) {
            return self.request_of_node(world);
        }
        if self.random.random_bool(0.01) {
            return self.request_for_debugging(world);
        }
        // The first users have the rights from which known attacks began.
        let users = if self.random.random_bool(0.2) { &world.users[..2] } else { &world.users };
        let (user, grants) = users.choose(&mut self.random).unwrap();
        let token = format!("token-{user}");
        // Most requests use an object and a verb of one of the user's grants.
        let grant = grants.choose(&mut self.random).filter(|_| self.random.random_bool(0.85));
        let Some(grant) = grant else {
            let object = world.objects.choose(&mut self.random).unwrap();
            let method = METHODS.choose(&mut self.random).unwrap();
            return self.request_about(user, &token, method, object);
        };
        let rule = grant.rules.choose(&mut self.random).unwrap();
        let resource = rule.resources.choose(&mut self.random).unwrap().split('/').next().unwrap();
        let is_close = |object: &&Object| {
            (resource == "*" || resource == object.resource.plural)
                && (grant.namespace.is_empty() || grant.namespace == object.scope())
        };
        let close: Vec<&Object> = world.objects.iter().filter(is_close).collect();
        let object = close.choose(&mut self.random).copied().unwrap_or(&world.objects[0]);
        let method = method_of(rule.verbs.choose(&mut self.random).unwrap());
        self.request_about(user, &token, method, object)
    }

    fn request_about(&mut self, user: &str, token: &str, method: &'static str, object: &Object) -> Request {
        let (mut shape, path) = self.path(object);
        // A deleted namespace stays Terminating, and accepts no creates.
        let ends_namespace =
            method == "DELETE" && (object.resource.plural == "namespaces" || shape == "namespace below a namespace");
        // A secret referenced by an ephemeral container is readable by the pod's node. An account
        // without its annotation restricts no pod.
        let is_dry_run =
            ends_namespace || path.ends_with("ephemeralcontainers") || object.resource.plural == "serviceaccounts";
        let query = self.query(method, is_dry_run, &mut shape);
        let content_type = match method {
            "PATCH" => PATCHES.choose(&mut self.random).unwrap(),
            _ => "application/json",
        };
        let accept = ACCEPTS.choose(&mut self.random).unwrap();
        let body = self.body(method, content_type, object, &path, &mut shape);
        let target = if query.is_empty() { path } else { format!("{path}?{query}") };
        Request { shape, user: user.into(), token: token.into(), method, target, accept, content_type, body }
    }

    /// Returns a path of an object, or a similar one.
    fn path(&mut self, object: &Object) -> (&'static str, String) {
        let resource = object.resource;
        let root = resource.path("");
        let root = root.trim_end_matches(resource.plural).trim_end_matches('/').to_owned();
        let other = NAMESPACES.choose(&mut self.random).unwrap();
        let scoped = resource.path(object.namespace);
        let (plural, name) = (resource.plural, object.name);
        match self.random.random_range(0..22) {
            0..=4 => ("plain", scoped),
            5..=8 => ("plain", object.path()),
            9 => ("plain", resource.path("")),
            10 | 11 if plural == "pods" && self.random.random_bool(0.5) => {
                ("subresource", format!("{}/ephemeralcontainers", object.path()))
            }
            10 | 11 => {
                let sub = [
                    "status",
                    "ephemeralcontainers",
                    "log",
                    "scale",
                    "finalize",
                    "proxy",
                    "proxy/x",
                    "token",
                    "eviction",
                ];
                ("subresource", format!("{}/{}", object.path(), sub.choose(&mut self.random).unwrap()))
            }
            12 | 13 => ("name in a watch path", scoped.replacen(&root, &format!("{root}/watch"), 1) + "/" + ALLOWED),
            14 => ("watch path", scoped.replacen(&root, &format!("{root}/watch"), 1)),
            15 | 16 => ("resource below another namespace", format!("{root}/namespaces/{other}/{plural}/{name}")),
            17 => ("resource below another namespace", format!("{root}/namespaces/{other}/{plural}")),
            18 => {
                let both =
                    format!("/api/v1/namespaces/{other}/namespaces/{}", NAMESPACES.choose(&mut self.random).unwrap());
                ("namespace below a namespace", both)
            }
            19 => ("odd slashes", scoped.replace("/namespaces/", "//namespaces/") + "/" + name),
            20 => ("escaped slash", format!("{scoped}%2F{name}")),
            _ => ("trailing segments", format!("{}/status/x", object.path())),
        }
    }

    fn query(&mut self, method: &str, is_dry_run: bool, shape: &mut &'static str) -> String {
        let mut parts = Vec::new();
        if is_dry_run {
            parts.push("dryRun=All".to_owned());
        }
        if self.random.random_bool(0.45) {
            let selector = SELECTORS.choose(&mut self.random).unwrap().replace('=', "%3D");
            let (odd, wrapper) = WRAPPERS.choose(&mut self.random).unwrap();
            if *shape == "plain" {
                *shape = odd;
            }
            parts.push(wrapper.replace("{}", &selector));
        }
        if self.random.random_bool(0.5) {
            parts.push((*OTHERS.choose(&mut self.random).unwrap()).to_owned());
        }
        if self.random.random_bool(0.1)
            && let Some(token) = self.tokens.lock().unwrap().choose(&mut self.random)
        {
            if *shape == "plain" {
                *shape = "continue token of another list";
            }
            parts.push(format!("continue={token}"));
        }
        if matches!(method, "PATCH") {
            parts.push("fieldManager=m".into());
        }
        if !is_dry_run && !matches!(method, "GET" | "HEAD") && self.random.random_bool(0.7) {
            parts.push("dryRun=All".into());
        }
        parts.join("&")
    }

    fn body(
        &mut self,
        method: &str,
        content_type: &str,
        object: &Object,
        path: &str,
        shape: &mut &'static str,
    ) -> String {
        let resource = object.resource;
        let api_version = if resource.group.is_empty() { "v1".to_owned() } else { format!("{}/v1", resource.group) };
        let name = if path.ends_with(resource.plural) { "made" } else { object.name };
        let whole = json!({"apiVersion": api_version, "kind": resource.kind, "metadata": {"name": name}});
        match (method, content_type) {
            ("GET" | "HEAD", _) => String::new(),
            ("DELETE", _) => ["", r#"{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}"#]
                .choose(&mut self.random)
                .unwrap()
                .to_string(),
            ("POST" | "PUT", _) | (_, "application/apply-patch+yaml") => whole.to_string(),
            (_, "application/json-patch+json") => {
                let value = if self.random.random_bool(0.5) { json!({"x": "y"}) } else { json!({}) };
                json!([{"op": "add", "path": "/metadata/labels", "value": value}]).to_string()
            }
            _ if path.contains("ephemeralcontainers") => {
                *shape = "secret of an ephemeral container";
                ephemeral_container()
            }
            _ => json!({"metadata": {"labels": {"x": "y"}}}).to_string(),
        }
    }

    /// Returns a request of the user that may debug pods, for a pod whose account restricts its
    /// secrets. The response shows the result.
    fn request_for_debugging(&mut self, world: &World) -> Request {
        let (user, _) = &world.users[0];
        let is_guarded = |object: &&Object| (object.resource.plural, object.name) == ("pods", "guarded");
        let pod = world.objects.iter().find(|object| is_guarded(object) && object.namespace == NAMESPACES[0]).unwrap();
        Request {
            shape: "secret of an ephemeral container",
            user: user.clone(),
            token: format!("token-{user}"),
            method: "PATCH",
            target: format!("{}/ephemeralcontainers?dryRun=All", pod.path()),
            accept: ACCEPTS[0],
            content_type: ["application/strategic-merge-patch+json", "application/merge-patch+json"]
                .choose(&mut self.random)
                .unwrap(),
            body: ephemeral_container(),
        }
    }

    /// Returns a request of a kubelet, for its own pods or for other ones.
    fn request_of_node(&mut self, world: &World) -> Request {
        let node = *NODES.choose(&mut self.random).unwrap();
        let user = format!("system:node:{node}");
        let token = format!("token-{node}");
        let pods: Vec<&Object> = world.objects.iter().filter(|object| object.resource.plural == "pods").collect();
        let pod = *pods.choose(&mut self.random).unwrap();
        let mut request = match self.random.random_range(0..5) {
            0 => {
                let method = METHODS.choose(&mut self.random).unwrap();
                self.request_about(&user, &token, method, pod)
            }
            1 => {
                let mut target = format!("{}/status", pod.path());
                let content_type = *PATCHES.choose(&mut self.random).unwrap();
                let body = match content_type {
                    "application/json-patch+json" => {
                        let claims = json!([{"name": "made", "resourceClaimName": "unread"}]);
                        json!([{"op": "add", "path": "/status/resourceClaimStatuses", "value": claims}]).to_string()
                    }
                    _ => {
                        let claims = json!([{"name": "made", "resourceClaimName": "unread"}]);
                        json!({
                            "apiVersion": "v1", "kind": "Pod",
                            "metadata": {"labels": {"forged": "yes"}, "name": pod.name},
                            "status": {"resourceClaimStatuses": claims},
                        })
                        .to_string()
                    }
                };
                if content_type.contains("apply") {
                    target += "?fieldManager=m&force=true";
                }
                let (user, token, accept) = (user.clone(), token.clone(), "application/json");
                Request { shape: "kubelet", user, token, method: "PATCH", target, accept, content_type, body }
            }
            _ => {
                let wanted = ["secrets", "configmaps", "resourceclaims", "persistentvolumeclaims", "pods", "nodes"];
                let wanted = *wanted.choose(&mut self.random).unwrap();
                let candidates: Vec<&Object> =
                    world.objects.iter().filter(|object| object.resource.plural == wanted).collect();
                let object = *candidates.choose(&mut self.random).unwrap();
                self.request_about(&user, &token, "GET", object)
            }
        };
        request.shape = match request.shape {
            "plain" => "kubelet",
            shape => shape,
        };
        request
    }
}

/// Returns an ephemeral container with an environment variable from a secret that no service
/// account lists.
fn ephemeral_container() -> String {
    let env = json!([{"name": "s", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}]);
    let container = json!({"name": "debug", "image": "i", "env": env});
    json!({"spec": {"ephemeralContainers": [container]}}).to_string()
}
