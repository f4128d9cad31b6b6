//! The attacked server, users with few rights, and measurements during an attack.

#![allow(dead_code, reason = "each module of attacks uses a part")]

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::{Certificate, Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::Server;

pub const JSON: &str = "application/json";
pub const YAML: &str = "application/yaml";
pub const JSON_PATCH: &str = "application/json-patch+json";
pub const MERGE_PATCH: &str = "application/merge-patch+json";
pub const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
pub const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// The token of `admin`, a member of `system:masters`.
///
/// A token is the user's name and a suffix that no log line contains by chance.
pub const ADMIN: &str = "admin";

/// Users of the token file: name and groups. Each test creates the roles that it needs.
const USERS: [(&str, &str); 5] = [
    (ADMIN, "system:masters"),
    ("mallory", ""),
    ("alice", ""),
    ("system:node:node-a", "system:nodes"),
    ("system:node:node-b", "system:nodes"),
];

/// A running server with a token for each of `USERS`.
pub struct Target {
    pub server: Server,
    http: reqwest::Client,
    _folder: TempDir,
}

/// Status code and body of a response.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub body: Value,
}

impl Target {
    /// Starts a server with RBAC and `flags` on top of the defaults.
    pub fn start(flags: &[&str]) -> Target {
        Target::start_in(tempfile::tempdir().unwrap(), flags, &[])
    }

    /// As `start`, in a folder of the caller, with further environment variables of the server.
    pub fn start_in(folder: TempDir, flags: &[&str], environment: &[(&str, &OsStr)]) -> Target {
        Target::start_by(folder, flags, |folder, flags| Server::start_in_environment(folder, flags, environment))
    }

    /// As `start`, with a limit of open files.
    pub fn start_with_files(open_files: u32, flags: &[&str]) -> Target {
        let start = |folder: &Path, flags: &[&str]| Server::start_with_files(open_files, folder, flags);
        Target::start_by(tempfile::tempdir().unwrap(), flags, start)
    }

    fn start_by(folder: TempDir, flags: &[&str], start: impl Fn(&Path, &[&str]) -> Server) -> Target {
        // Fails when another test of this process has installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let tokens = folder.path().join("tokens.csv");
        let line = |(name, groups): &(&str, &str)| format!("{},{name},uid-{name},\"{groups}\"\n", token(name));
        fs::write(&tokens, USERS.iter().map(line).collect::<String>()).unwrap();
        let token_flag = format!("--token-auth-file={}", tokens.display());
        let flags: Vec<&str> = flags.iter().copied().chain([token_flag.as_str()]).collect();
        let server = start(folder.path(), &flags);
        let http = http_client(&server).build().unwrap();
        Target { server, http, _folder: folder }
    }

    /// Ends the server and returns its log.
    pub fn end(self) -> String {
        self.server.log()
    }

    /// Returns a client that trusts this server and sends no credentials.
    pub fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Builds a request as `user`, one of `USERS`; `path` begins with a slash and is sent
    /// unchanged.
    pub fn request(&self, user: &str, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.server.url)).bearer_auth(token(user))
    }

    /// Sends a body and reads the response; a body that is not JSON becomes a null value.
    pub async fn send(
        &self,
        user: &str,
        method: Method,
        path: &str,
        media_type: &str,
        body: impl Into<Vec<u8>>,
    ) -> Answer {
        let request = self.request(user, method, path).header("Content-Type", media_type).body(body.into());
        answer(request).await
    }

    /// Sends a GET as `user`.
    pub async fn get(&self, user: &str, path: &str) -> Answer {
        answer(self.request(user, Method::GET, path)).await
    }

    /// Creates an object as the administrator; fails unless the code is 201.
    pub async fn create(&self, path: &str, object: &Value) -> Value {
        let created = self.send(ADMIN, Method::POST, path, JSON, object.to_string()).await;
        assert_eq!(created.code, 201, "POST {path}: {}", created.body);
        created.body
    }

    /// Updates the status of an object as the administrator; fails unless the code is 200.
    pub async fn set_status(&self, path: &str, status: Value) {
        let patch = json!({"status": status}).to_string();
        let patched = self.send(ADMIN, Method::PATCH, &format!("{path}/status"), MERGE_PATCH, patch).await;
        assert_eq!(patched.code, 200, "PATCH {path}/status: {}", patched.body);
    }

    /// Creates the service account that pods of the namespace `default` use; in a cluster,
    /// kube-controller-manager creates it.
    pub async fn create_default_account(&self) {
        self.create("/api/v1/namespaces/default/serviceaccounts", &json!({"metadata": {"name": "default"}})).await;
    }

    /// Creates a bootstrap token for authentication and returns it.
    pub async fn create_bootstrap_token(&self) -> String {
        let (id, key) = ("a1b2c3", "0123456789abcdef");
        let data = json!({"token-id": id, "token-secret": key, "usage-bootstrap-authentication": "true"});
        let metadata = json!({"name": format!("bootstrap-token-{id}")});
        let secret = json!({"metadata": metadata, "type": "bootstrap.kubernetes.io/token", "stringData": data});
        self.create("/api/v1/namespaces/kube-system/secrets", &secret).await;
        format!("{id}.{key}")
    }

    /// Creates a namespace with its default service account.
    pub async fn create_namespace(&self, name: &str) {
        self.create("/api/v1/namespaces", &json!({"metadata": {"name": name}})).await;
        let accounts = format!("/api/v1/namespaces/{name}/serviceaccounts");
        self.create(&accounts, &json!({"metadata": {"name": "default"}})).await;
    }

    /// Grants `user` the rights of `rules` in a namespace, or in the whole cluster when `namespace`
    /// is empty.
    pub async fn grant(&self, user: &str, namespace: &str, rules: Value) {
        let group = "rbac.authorization.k8s.io";
        let name = format!("grant-{}", user.replace(':', "-"));
        let (folder, prefix) = match namespace {
            "" => (String::new(), "Cluster"),
            namespace => (format!("namespaces/{namespace}/"), ""),
        };
        let kind = format!("{prefix}Role");
        let plural = kind.to_lowercase();
        let role = json!({"metadata": {"name": name}, "rules": rules});
        self.create(&format!("/apis/{group}/v1/{folder}{plural}s"), &role).await;
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": kind, "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        });
        self.create(&format!("/apis/{group}/v1/{folder}{plural}bindings"), &binding).await;
    }

    /// Waits until `user` may read `path`: authorizers learn of new roles by a watch. Fails after a
    /// minute.
    pub async fn await_right(&self, user: &str, path: &str) {
        let begin = Instant::now();
        while self.get(user, path).await.code != 200 {
            assert!(begin.elapsed() < Duration::from_secs(60), "{user} may not read {path}");
        }
    }

    /// Fails unless the server answers `/livez` and a read by the administrator.
    pub async fn assert_alive(&self) {
        let live = self.http.get(format!("{}/livez", self.server.url)).send().await;
        assert_eq!(live.unwrap().status(), StatusCode::OK, "/livez");
        assert_eq!(self.get(ADMIN, "/api/v1/namespaces/default").await.code, 200, "a read after the attack");
    }

    /// Returns the current and the peak memory of the server process, in bytes.
    pub fn memory(&self) -> Memory {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.process_id())).unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
        };
        Memory { resident: field("VmRSS:"), peak: field("VmHWM:") }
    }

    /// Requests `path` as `user` every 10 ms, on separate connections, until the probe is finished.
    pub fn probe(&self, user: &str, path: &str) -> Probe {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let request = http_client(&self.server).build().unwrap().get(format!("{}{path}", self.server.url));
        let request = request.bearer_auth(token(user)).timeout(Duration::from_secs(60));
        // A separate runtime, so that the attack does not delay the probe within this process.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(measure(request, &stopped))
        });
        Probe { stop, thread }
    }
}

/// Resident memory in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    pub resident: u64,
    pub peak: u64,
}

/// Requests that are sent while an attack runs.
pub struct Probe {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<Vec<Duration>>,
}

impl Probe {
    /// Stops the probe and returns the latencies. Fails when a response was not 200.
    pub fn finish(self) -> Latencies {
        self.stop.store(true, Ordering::Relaxed);
        let mut sorted = self.thread.join().unwrap();
        sorted.sort();
        Latencies(sorted)
    }
}

/// Latencies in ascending order.
#[derive(Debug)]
pub struct Latencies(Vec<Duration>);

impl Latencies {
    /// Returns the latency that `percent` of the requests do not exceed.
    pub fn percentile(&self, percent: usize) -> Duration {
        assert!(!self.0.is_empty(), "the probe has sent nothing");
        self.0[(self.0.len() * percent / 100).min(self.0.len() - 1)]
    }
}

async fn measure(request: reqwest::RequestBuilder, stopped: &AtomicBool) -> Vec<Duration> {
    let mut latencies = Vec::new();
    let mut tick = tokio::time::interval(Duration::from_millis(10));
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while !stopped.load(Ordering::Relaxed) {
        tick.tick().await;
        let begin = Instant::now();
        let response = request.try_clone().unwrap().send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "a probe of another user");
        response.bytes().await.unwrap();
        latencies.push(begin.elapsed());
    }
    latencies
}

/// Returns the bearer token of a user of the token file.
pub fn token(user: &str) -> String {
    format!("token-of-{}-6f1a", user.replace(':', "-"))
}

/// Returns a client builder that trusts the certificate of this server.
pub fn http_client(server: &Server) -> reqwest::ClientBuilder {
    // The tests of this program share the crypto provider; the first one installs it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let pem = fs::read(server.data().join("pki/ca.crt")).unwrap();
    reqwest::Client::builder().add_root_certificate(Certificate::from_pem(&pem).unwrap())
}

/// Sends a request and reads the response; a body that is not JSON becomes a null value.
pub async fn answer(request: reqwest::RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let code = response.status().as_u16();
    let body = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or_default();
    Answer { code, body }
}
