//! A client of one server, which speaks JSON.

use std::time::Duration;

use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

/// The administrator's token at both servers.
pub const TOKEN: &str = "admins-token-5b1d";
pub const APPLY: &str = "application/apply-patch+yaml";
pub const MERGE: &str = "application/merge-patch+json";
/// The longest that a server may take to answer, or to tell of a change.
const PATIENCE: Duration = Duration::from_secs(60);
/// When to ask again after a server said that it is too busy.
const RETRY: Duration = Duration::from_millis(200);

/// A server, as a client sees it.
#[derive(Clone)]
pub struct Api {
    client: Client,
    pub url: String,
    /// What failures call the server.
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
        timeout(PATIENCE, request.send()).await.expect("an answer").ok()
    }

    /// The code and the body of an answer; 0 when there is none. A server that is too busy is asked again.
    pub async fn ask(&self, method: Method, path: &str, media_type: &str, body: Option<&Value>) -> (u16, Value) {
        loop {
            let sent = self.send(method.clone(), path, media_type, body).await;
            let Some(response) = sent else { return (0, Value::Null) };
            let code = response.status().as_u16();
            let text = response.text().await.unwrap_or_default();
            // Upstream's cache of a resource that was just defined is not ready at once.
            if code == 429 {
                tokio::time::sleep(RETRY).await;
                continue;
            }
            return (code, serde_json::from_str(&text).unwrap_or(Value::String(text)));
        }
    }

    /// The body of an answer, which has to be good.
    async fn done(&self, method: Method, path: &str, media_type: &str, body: Option<&Value>) -> Value {
        let (code, answer) = self.ask(method.clone(), path, media_type, body).await;
        assert!((200..300).contains(&code), "{}: {method} {path}: {code} {answer}", self.name);
        answer
    }

    pub async fn get(&self, path: &str) -> Value {
        self.done(Method::GET, path, "", None).await
    }

    /// The code of a read.
    pub async fn code(&self, path: &str) -> u16 {
        self.ask(Method::GET, path, "", None).await.0
    }

    pub async fn create(&self, path: &str, object: &Value) -> Value {
        self.done(Method::POST, path, "application/json", Some(object)).await
    }

    pub async fn merge(&self, path: &str, patch: &Value) -> Value {
        self.done(Method::PATCH, path, MERGE, Some(patch)).await
    }

    /// Applies as a field manager, without force.
    pub async fn apply(&self, path: &str, manager: &str, object: &Value) -> (u16, Value) {
        self.ask(Method::PATCH, &format!("{path}?fieldManager={manager}"), APPLY, Some(object)).await
    }

    pub async fn delete(&self, path: &str) -> Value {
        self.done(Method::DELETE, path, "application/json", Some(&json!({}))).await
    }

    /// Whether the server says that it is ready.
    pub async fn is_ready(&self) -> bool {
        self.code("/readyz").await == 200
    }

    /// Follows a resource; the path holds the query without `watch`.
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
    /// The next event: its type and its object.
    pub async fn next(&mut self) -> (String, Value) {
        loop {
            if let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.text.drain(..=end).collect();
                let mut event: Value = serde_json::from_slice(&line).unwrap();
                return (event["type"].as_str().unwrap_or_default().to_owned(), event["object"].take());
            }
            let chunk = timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.unwrap_or_else(|_| panic!("{}: no event in time", self.name)).unwrap();
            self.text.extend(chunk.unwrap_or_else(|| panic!("{}: the watch ended", self.name)));
        }
    }

    /// The events up to the one that `last` accepts, as type and name.
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
