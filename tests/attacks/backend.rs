//! Backends of the tests' own: they record what they are sent, byte for byte, and never close a connection.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::common::tls_server::TlsServer;

/// What has come, in the order in which it came, one text for each connection.
type Received = Arc<Mutex<Vec<String>>>;

/// A running backend, at all addresses of this host.
pub struct Backend {
    pub port: u16,
    /// Its certificate in PEM, which it signed itself; empty for a backend without TLS.
    pub certificate: String,
    received: Received,
}

impl Backend {
    /// A backend with TLS and a certificate for these names. It answers each head of a request with what `answer` makes of it.
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

    /// A backend without TLS.
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

    /// A backend known as `back.default.svc`, which answers every request with the headers that it got.
    pub async fn recorder() -> Self {
        Backend::start(&["back.default.svc"], echo).await
    }

    /// What has come so far, one text for each connection. A connection on which nothing came has an empty text.
    pub fn received(&self) -> Vec<String> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Answers the heads of requests; bodies are recorded and not looked at.
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

/// An answer after which the connection goes on.
pub fn answer(code: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {code}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The headers, in lower case, with their values.
fn echo(head: &str) -> String {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let headers: Vec<_> = lines.map(|(name, value)| json!([name.to_lowercase(), value])).collect();
    let body = json!({"kind": "Echo", "apiVersion": "shop.example.com/v1", "headers": headers}).to_string();
    answer("200 OK", "Content-Type: application/json\r\n", &body)
}
