//! A JSON client of one server.

use std::time::Duration;

use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

/// The administrator's token at both servers.
pub const TOKEN: &str = "admins-token-5b1d";
pub const APPLY: &str = "application/apply-patch+yaml";
pub const MERGE: &str = "application/merge-patch+json";
/// Maximum time until a response or a watch event.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Delay before a retry after a 429 response.
const RETRY: Duration = Duration::from_millis(200);

/// A client of one server.
#[derive(Clone)]
pub struct Api {
    client: Client,
    pub url: String,
    /// The server's name in failure messages.
    pub name: &'static str,
}

impl Api {
    pub fn new(name: &'static str, url: &str) -> Api {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().danger_accept_invalid_certs(true).build().unwrap();
        Api { client, url: url.to_owned(), name }
    }

    async fn send(&self, method: Method, path: &str, media_type: &str, body: Option<&Value>) -> Option<Response> {
        let request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(TOKEN);
        let request = match body {
            Some(body) => request.header("Content-Type", media_type).body(body.to_string()),
            None => request,
        };
        timeout(TIMEOUT, request.send()).await.expect("an answer").ok()
    }

    /// Sends a request; returns code and body, or 0 without a response. Repeats it after 429.
    pub async fn request(&self, method: Method, path: &str, media_type: &str, body: Option<&Value>) -> (u16, Value) {
        loop {
            let sent = self.send(method.clone(), path, media_type, body).await;
            let Some(response) = sent else { return (0, Value::Null) };
            let code = response.status().as_u16();
            let text = response.text().await.unwrap_or_default();
            // The watch cache of kube-apiserver is not ready immediately after a resource is
            // defined.
            if code == 429 {
                tokio::time::sleep(RETRY).await;
                continue;
            }
            return (code, serde_json::from_str(&text).unwrap_or(Value::String(text)));
        }
    }

    /// Returns the body of a successful response.
    async fn request_ok(&self, method: Method, path: &str, media_type: &str, body: Option<&Value>) -> Value {
        let (code, answer) = self.request(method.clone(), path, media_type, body).await;
        assert!((200..300).contains(&code), "{}: {method} {path}: {code} {answer}", self.name);
        answer
    }

    pub async fn get(&self, path: &str) -> Value {
        self.request_ok(Method::GET, path, "", None).await
    }

    /// Returns the status code of a read.
    pub async fn code(&self, path: &str) -> u16 {
        self.request(Method::GET, path, "", None).await.0
    }

    pub async fn create(&self, path: &str, object: &Value) -> Value {
        self.request_ok(Method::POST, path, "application/json", Some(object)).await
    }

    pub async fn merge(&self, path: &str, patch: &Value) -> Value {
        self.request_ok(Method::PATCH, path, MERGE, Some(patch)).await
    }

    /// Applies as a field manager, without force.
    pub async fn apply(&self, path: &str, manager: &str, object: &Value) -> (u16, Value) {
        self.request(Method::PATCH, &format!("{path}?fieldManager={manager}"), APPLY, Some(object)).await
    }

    pub async fn delete(&self, path: &str) -> Value {
        self.request_ok(Method::DELETE, path, "application/json", Some(&json!({}))).await
    }

    /// Reports whether the server is ready.
    pub async fn is_ready(&self) -> bool {
        self.code("/readyz").await == 200
    }

    /// Watches a resource; the path contains the query without `watch`.
    pub async fn watch(&self, path: &str) -> Watch {
        let separator = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{separator}watch=true");
        let response = self.send(Method::GET, &path, "", None).await.expect("an answer");
        assert_eq!(response.status(), 200, "{}: {path}", self.name);
        Watch { response, text: Vec::new(), name: self.name }
    }
}

/// The events of a watch.
pub struct Watch {
    response: Response,
    text: Vec<u8>,
    name: &'static str,
}

impl Watch {
    /// Returns the next event: its type and its object.
    pub async fn next(&mut self) -> (String, Value) {
        loop {
            if let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.text.drain(..=end).collect();
                let mut event: Value = serde_json::from_slice(&line).unwrap();
                return (event["type"].as_str().unwrap_or_default().to_owned(), event["object"].take());
            }
            let chunk = timeout(TIMEOUT, self.response.chunk()).await;
            let chunk = chunk.unwrap_or_else(|_| panic!("{}: no event in time", self.name)).unwrap();
            self.text.extend(chunk.unwrap_or_else(|| panic!("{}: the watch ended", self.name)));
        }
    }

    /// Returns the events up to the one that `last` accepts, as type and name.
    pub async fn until(&mut self, last: impl Fn(&str, &Value) -> bool) -> Vec<(String, String)> {
        let mut seen = Vec::new();
        loop {
            let (kind, object) = self.next().await;
            let is_last = last(&kind, &object);
            seen.push((kind, object["metadata"]["name"].as_str().unwrap_or_default().to_owned()));
            if is_last {
                return seen;
            }
        }
    }
}
