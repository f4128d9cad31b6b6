//! Media types, methods and paths, including paths without a resource.

use serde_json::{Value, json};

use super::{Generator, ODD_NAMES, request};

const METHODS: &[&str] =
    &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "FOO", "get", "LIST"];

const PATHS: &[&str] = &[
    "/",
    "/api",
    "/api/",
    "/api/v1",
    "/api/v1/",
    "/api/v2",
    "/apis",
    "/apis/",
    "/apis/apps",
    "/apis/apps/",
    "/apis/apps/v1",
    "/apis/apps/v2",
    "/apis/nothing.example.com",
    "/apis/nothing.example.com/v1",
    "/version",
    "/version/",
    "/healthz",
    "/livez",
    "/readyz",
    "/healthz/ping",
    "/readyz/ping",
    "/livez/nothing",
    "/readyz?verbose=1",
    "/livez?exclude=ping",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/api/v1",
    "/openapi/v3/apis/apps/v1",
    "/openapi/v3/nothing",
    "/openapi/v3/api/v1?hash=x",
    "/openapi",
    "/metrics",
    "/metrics/",
    "/metrics/slis",
    "/nothing",
    "/favicon.ico",
    "/swagger.json",
    "/ui",
    "/logs",
    "/logs/",
    "/debug/pprof",
    "/debug/pprof/",
    "/debug/flags/v",
    "/flagz",
    "/statusz",
    "/apis//apps",
    "//apis",
    "/api//v1",
    "/api/v1//pods",
    "/./api",
    "/api/../version",
    "/api/v1/namespaces/%2e%2e/pods",
    "/%61pi/v1",
    "/api%2Fv1",
    "/api/v1/%",
    "/.well-known/openid-configuration",
    "/openid/v1/jwks",
    "/apis/apps/v1/",
    "/apis/apps/v1/deployments/",
    "/api/v1/namespaces/",
    "/api/v1/pods/a",
    "/api/v1/pods/a/log",
    "/api/v1/namespaces/${ns}/namespaces",
    "/api/v1/namespaces/${ns}/nodes",
    "/api/v1/namespaces/${ns}/nothing",
    "/api/v1/namespaces/${ns}/nothing/a",
    "/api/v1/namespaces/${ns}/pods/a/nothing",
    "/api/v1/namespaces/${ns}/pods/a/status/b",
    "/api/v1/namespaces/${ns}/configmaps/a/status",
    "/api/v1/namespaces/${ns}/configmaps/a/scale",
    "/api/v1/bindings",
    "/api/v1/watch/pods",
    "/api/v1/watch/namespaces/${ns}/configmaps",
    "/api/v1/proxy/nodes/a",
    "/api/v1/redirect/nodes/a",
    "/api/v1/namespaces/${ns}",
    "/api/v1/namespaces/${ns}/",
    "/api/v1/namespaces/${ns}/status",
    "/api/v1/namespaces/${ns}/finalize",
    "/api/v1/namespaces/a/b/c/d/e",
    "/apis/apps/v1/namespaces/${ns}/pods",
    "/apis/extensions/v1beta1/ingresses",
    "/api/v1/PODS",
    "/api/v1/componentstatuses",
    "/api/v1/componentstatuses/a",
    "/api/v1/namespaces//pods",
    "/apis/apps/v1/namespaces/${ns}",
    "/api/v1/namespaces/${ns}/services/a/proxy",
    "/api/v1/nodes/a/proxy/",
    "/api/v1/events?limit=0&fieldSelector=metadata.name=x",
];

const BODY_TYPES: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/cbor",
    "text/plain",
    "",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/x-www-form-urlencoded",
    "application/json;charset=utf-8",
    "json",
    "application/json;stream=watch",
    "application/json;as=Table",
    "application/json, application/yaml",
    "*/*",
    "APPLICATION/JSON",
    "application/apply-patch+json",
    "application/octet-stream",
    "multipart/form-data; boundary=a",
    "application/json; a",
];

impl Generator<'_> {
    /// Accept and Content-Type of every verb.
    pub(super) fn media_types(&mut self) {
        let subject = self.subject();
        let mut object = subject.object.clone();
        for _ in 0..3 + self.random.below(4) {
            let method = *self.random.pick(&["POST", "POST", "GET", "GET", "PUT", "PATCH", "DELETE"]);
            let collection = method == "POST" || (method == "GET" && self.random.percent(50));
            let path = if collection { subject.kind.collection() } else { subject.path() };
            let path = if self.random.percent(5) { self.random.pick(PATHS).to_string() } else { path };
            if self.random.percent(20) {
                object = self.changed(&subject, 1);
            }
            let mut step = request(method, path);
            if let Some(accept) = self.accept(25) {
                let both = json!([accept, "application/json"]);
                step = step.header("Accept", if self.random.percent(5) { both } else { json!(accept) });
            } else if self.random.percent(20) {
                step = step.header("Accept", Value::Null);
            }
            if method != "GET" && !(method == "DELETE" && self.random.percent(60)) {
                step = step.body(if method == "DELETE" { json!({}) } else { object.clone() });
                if self.random.percent(50) || method == "PATCH" {
                    step = step.header("Content-Type", *self.random.pick(BODY_TYPES));
                }
                if self.random.percent(10) {
                    step = step.body(
                        self.random
                            .pick(&[
                                json!({"$base64": "azhzAAoMCgJ2MRIGU2VjcmV0EgIKABoAIgA="}),
                                json!({"$base64": "azhzAA=="}),
                                json!({"$base64": "azhzAP8="}),
                                json!({"$text": ""}),
                                json!({"$text": "a: b\n"}),
                                json!({"$text": "a: b\n---\nc: d\n"}),
                                json!({"$text": "- a"}),
                                json!({"$base64": "2dn3oA=="}),
                            ])
                            .clone(),
                    );
                }
            }
            if self.random.percent(10) {
                step = step.header(
                    "Accept-Encoding",
                    *self.random.pick(&["gzip", "gzip;q=0", "br", "*", "identity", "gzip, br"]),
                );
            }
            self.push(step);
        }
    }

    /// Odd paths and methods.
    pub(super) fn paths(&mut self) {
        for _ in 0..3 + self.random.below(5) {
            let path = self.odd_path();
            let method = if self.random.percent(45) { "GET" } else { *self.random.pick(METHODS) };
            let stream = path.contains("/watch/");
            let mut step = request(method, path);
            if ["POST", "PUT", "PATCH"].contains(&method) && self.random.percent(50) {
                step = step.body(
                    self.random.pick(&[json!({}), json!([]), json!({"kind": "Pod", "apiVersion": "v1"})]).clone(),
                );
            }
            if let Some(accept) = self.accept(65).filter(|_| !stream) {
                step = step.header("Accept", accept);
            }
            let headers = [
                ("If-None-Match", json!("\"a\"")),
                ("If-Match", json!("*")),
                ("Range", json!("bytes=0-1")),
                ("X-HTTP-Method-Override", json!("DELETE")),
                ("Origin", json!("https://example.com")),
                ("Impersonate-User", json!("")),
                ("Impersonate-Group", json!("a")),
                ("Impersonate-User", json!("jane")),
                ("Impersonate-Uid", json!("u")),
                ("Upgrade", json!("websocket")),
                ("Expect", json!("200-ok")),
                ("Content-Type", json!("a/b")),
                ("User-Agent", Value::Null),
                ("Audit-ID", json!("a")),
            ];
            if self.random.percent(15) {
                let (name, value) = self.random.pick(&headers).clone();
                step = step.header(name, value);
            }
            if self.random.percent(8) {
                step.user = Some(self.random.pick(&["", "nothing", "a b"]).to_string());
            }
            if stream {
                step.watch = Some(json!({"seconds": 0.4}));
            }
            self.push(step);
        }
    }

    fn odd_path(&mut self) -> String {
        if self.random.percent(65) {
            return self.random.pick(PATHS).to_string();
        }
        let kind = self.random.pick(&self.catalog.kinds);
        let root = kind.root();
        let name = *self.random.pick(ODD_NAMES);
        let sub = self
            .random
            .pick(&["status", "scale", "proxy", "log", "exec", "binding", "eviction", "token", "approval", "a"]);
        match self.random.below(8) {
            0 => format!("/{root}/{}/{name}", kind.resource),
            1 => format!("/{root}/namespaces/${{ns}}/{}/{name}", kind.resource),
            2 => format!("/{root}/namespaces/${{ns}}/{}/{name}/{sub}", kind.resource),
            3 => format!("{}/a/{sub}", kind.collection()),
            4 => format!("/{root}/namespaces/{name}/{}", kind.resource),
            // Objects of other conversations must not be deleted.
            5 => format!("{}/?fieldSelector=metadata.name=nothing", kind.collection()),
            6 => format!("/{root}/{}/{name}/{sub}/a", kind.resource),
            // A full list would contain objects of other conversations.
            _ => format!("{}?limit=1&fieldSelector=metadata.name=nothing", kind.collection()),
        }
    }
}
