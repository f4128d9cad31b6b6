//! Settings of the CIS benchmark, section 1.2: the effect of each flag, and the defaults.

mod defaults;
mod handshakes;
mod hardened;

use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::{Certificate, Client, Identity, Method};
use serde_json::{Value, json};

use crate::support::{Answer, JSON, answer};
use crate::tls::Pair;

/// How long the server may take to observe a change.
const TIMEOUT: Duration = Duration::from_secs(60);
const DEFAULT: &str = "/api/v1/namespaces/default";
/// Requested lifetime of pod tokens, in seconds.
///
/// With `--service-account-extend-token-expiration` such a token lasts a year (upstream:
/// `WarnOnlyBoundTokenExpirationPeriod`).
const WARN_ONLY: i64 = 3607;

/// HTTP client of one user and one server.
struct User {
    client: Client,
    url: String,
}

impl User {
    /// A client that trusts an authority and has an optional client certificate.
    fn new(url: &str, authority: &str, pair: Option<&Pair>) -> User {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder().add_root_certificate(Certificate::from_pem(authority.as_bytes()).unwrap());
        if let Some(pair) = pair {
            let pem = format!("{}{}", pair.key, pair.certificate);
            client = client.identity(Identity::from_pem(pem.as_bytes()).unwrap());
        }
        User { client: client.build().unwrap(), url: url.to_owned() }
    }

    /// The administrator of the server's kubeconfig.
    fn administrator(url: &str, kubeconfig: &Path) -> User {
        let text = std::fs::read_to_string(kubeconfig).unwrap();
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap();
            String::from_utf8(STANDARD.decode(line.trim().trim_matches('"')).unwrap()).unwrap()
        };
        let pair = Pair { certificate: field("client-certificate-data:"), key: field("client-key-data:") };
        User::new(url, &field("certificate-authority-data:"), Some(&pair))
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Answer {
        let media_type = if method == Method::PATCH { "application/merge-patch+json" } else { JSON };
        let request = self.client.request(method, format!("{}{path}", self.url)).header("Content-Type", media_type);
        answer(request.body(body.to_string())).await
    }

    async fn create(&self, path: &str, object: &Value) -> Answer {
        self.send(Method::POST, path, object).await
    }

    async fn code(&self, path: &str) -> u16 {
        answer(self.client.get(format!("{}{path}", self.url))).await.code
    }

    /// Returns the status code of a request with a bearer token.
    async fn code_with(&self, token: &str, path: &str) -> u16 {
        answer(self.client.get(format!("{}{path}", self.url)).bearer_auth(token)).await.code
    }

    /// Returns the lifetime in seconds of a token requested by a pod.
    async fn token_life(&self, pod: &str) -> i64 {
        let reference = json!({"apiVersion": "v1", "kind": "Pod", "name": pod});
        let spec = json!({"expirationSeconds": WARN_ONLY, "boundObjectRef": reference});
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec});
        let issued = self.create(&format!("{DEFAULT}/serviceaccounts/default/token"), &request).await;
        let token = issued.body["status"]["token"].as_str().unwrap();
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap()
    }
}

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"nodeName": "node-a", "automountServiceAccountToken": false,
        "containers": [{"name": "main", "image": "nginx:1.27", "imagePullPolicy": "IfNotPresent"}]}})
}

fn service_with_external_address() -> Value {
    json!({"metadata": {"name": "external"}, "spec": {"ports": [{"port": 80}], "externalIPs": ["192.0.2.7"]}})
}

fn event(number: usize) -> Value {
    json!({"metadata": {"name": format!("event-{number}")}, "involvedObject": {"namespace": "default"}})
}

/// Reports whether a file of the store contains a text.
fn is_stored(data: &Path, text: &str) -> bool {
    let files =
        std::fs::read_dir(data.join("store")).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let mut files = files.into_iter();
    files.any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}
