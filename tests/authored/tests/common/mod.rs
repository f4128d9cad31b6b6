//! A server of the groups of this package, within the test process.

#![allow(dead_code, reason = "not every test needs all of it")]

use apiserver::{InProcess, Server};
use http::{Method, StatusCode};
use serde_json::Value;

/// A server, and a client with all rights.
pub struct Ci {
    server: InProcess,
}

impl Ci {
    /// Starts a server with these flags.
    #[track_caller]
    pub fn start(flags: &[&str]) -> Ci {
        Ci { server: server(flags).start().unwrap() }
    }

    /// Sends a document; PATCH applies it.
    pub async fn send(&self, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
        self.server.client().unwrap().send(method, path, body).await.unwrap()
    }

    /// Returns the warnings in the response.
    pub async fn warnings(&self, method: Method, path: &str, body: &Value) -> Vec<String> {
        self.server.client().unwrap().warnings(method, path, body).await.unwrap()
    }

    /// Reads a path with an `Accept` header.
    pub async fn get_as(&self, path: &str, accept: &'static str) -> (StatusCode, Value) {
        self.server.client().unwrap().get_as(path, accept).await.unwrap()
    }

    /// Reads a path as text.
    pub async fn text(&self, path: &str) -> String {
        self.server.client().unwrap().text(path).await.unwrap()
    }

    /// Sends a document; fails unless the server accepts it. Returns the response.
    pub async fn done(&self, method: Method, path: &str, body: &Value) -> Value {
        let (status, answer) = self.send(method, path, body).await;
        assert!(status.is_success(), "{status} {answer}");
        answer
    }

    /// Returns the errors in the response, one line for each.
    pub async fn refused(&self, method: Method, path: &str, body: &Value) -> Vec<String> {
        let (status, answer) = self.send(method, path, body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
        let causes = answer["details"]["causes"].as_array().cloned().unwrap_or_default();
        let line = |cause: &Value| format!("{}: {}", text(&cause["field"]), text(&cause["message"]));
        causes.iter().map(line).collect()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the server before its start.
pub fn server(flags: &[&str]) -> Server {
    Server::delegating("ci-apiserver", authored::groups()).flags(flags.iter().copied())
}
