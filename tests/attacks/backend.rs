//! Test backends that record the received bytes and never close a connection.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::common::tls_server::TlsServer;

/// Received bytes as text, one entry for each connection, in order of arrival.
type Received = Arc<Mutex<Vec<String>>>;

/// A running backend that listens on all addresses of this host.
pub struct Backend {
    pub port: u16,
    /// The self-signed certificate in PEM; empty for a backend without TLS.
    pub certificate: String,
    received: Received,
}

impl Backend {
    /// Starts a backend with TLS and a certificate for these names.
    ///
    /// `answer` maps the head of each request to the response.
    pub async fn start(names: &[&str], answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let (received, answer) = (Received::default(), Arc::new(answer));
        let shared = received.clone();
        let server = TlsServer::start("0.0.0.0", names, move |stream| {
            let (received, answer) = (shared.clone(), answer.clone());
            async move { serve(stream, &received, &*answer).await }
        });
        let TlsServer { port, certificate } = server.await;
        Backend { port, certificate, received }
    }

    /// Starts a backend without TLS.
    pub async fn plain(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let (received, answer) = (Received::default(), Arc::new(answer));
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let (port, shared) = (listener.local_addr().unwrap().port(), received.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (received, answer) = (shared.clone(), answer.clone());
                tokio::spawn(async move { serve(stream, &received, &*answer).await });
            }
        });
        Backend { port, certificate: String::new(), received }
    }

    /// Starts a backend for `back.default.svc` that echoes the request headers in each response.
    pub async fn recorder() -> Self {
        Backend::start(&["back.default.svc"], echo).await
    }

    /// Returns the text received so far on each connection; empty for a connection without data.
    pub fn received(&self) -> Vec<String> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Responds to request heads; bodies are recorded but not parsed.
async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, received: &Received, answer: &impl Fn(&str) -> String) {
    let all = || received.lock().unwrap_or_else(PoisonError::into_inner);
    let at = {
        let mut texts = all();
        texts.push(String::new());
        texts.len() - 1
    };
    let mut answered = 0;
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        let mut answers = String::new();
        {
            let text = &mut all()[at];
            text.push_str(&String::from_utf8_lossy(&buffer[..length]));
            while let Some(end) = text[answered..].find("\r\n\r\n") {
                answers.push_str(&answer(&text[answered..answered + end]));
                answered += end + 4;
            }
        }
        if stream.write_all(answers.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Returns a response that keeps the connection open.
pub fn answer(code: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {code}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns the headers in lower case, with their values.
fn echo(head: &str) -> String {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let headers: Vec<_> = lines.map(|(name, value)| json!([name.to_lowercase(), value])).collect();
    let body = json!({"kind": "Echo", "apiVersion": "shop.example.com/v1", "headers": headers}).to_string();
    answer("200 OK", "Content-Type: application/json\r\n", &body)
}
