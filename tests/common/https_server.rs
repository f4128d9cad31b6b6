//! An HTTPS server for tests, which handles one request per connection.

#![allow(dead_code, reason = "each test program uses a part")]

#[path = "tls_server.rs"]
mod tls_server;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use tls_server::TlsServer;

/// A running server.
pub struct Https {
    pub url: String,
    /// The self-signed certificate of the server, in PEM.
    pub certificate: String,
}

impl Https {
    /// Starts a server; `answer` gets the path and the body, which is `null` if there is none.
    pub async fn start(answer: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        let server = TlsServer::start("127.0.0.1", &["localhost"], move |stream| serve(stream, answer.clone())).await;
        Https { url: format!("https://localhost:{}", server.port), certificate: server.certificate }
    }

    /// A file with a kubeconfig of the server.
    pub fn kubeconfig(&self) -> NamedTempFile {
        let file = NamedTempFile::new().unwrap();
        let authority = STANDARD.encode(&self.certificate);
        let config = json!({
            "clusters": [{"name": "c", "cluster": {"server": self.url, "certificate-authority-data": authority}}],
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            "current-context": "c",
        });
        std::fs::write(file.path(), config.to_string()).unwrap();
        file
    }
}

/// Handles one request.
async fn serve(mut stream: TlsStream<TcpStream>, answer: Arc<impl Fn(&str, &Value) -> (u16, Value)>) {
    let (path, body) = read(&mut stream).await;
    let (code, answer) = answer(&path, &body);
    let answer = answer.to_string();
    let length = answer.len();
    let head = format!("HTTP/1.1 {code} x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{answer}").as_bytes()).await.unwrap();
    let _ = stream.shutdown().await;
}

/// Reads the path and the body of a request.
async fn read(stream: &mut (impl AsyncRead + Unpin)) -> (String, Value) {
    let mut text = Vec::new();
    loop {
        stream.read_buf(&mut text).await.unwrap();
        let Some(end) = text.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&text[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        if text.len() - end - 4 >= length.parse().unwrap() {
            let path = head.split(' ').nth(1).unwrap().to_owned();
            return (path, serde_json::from_slice(&text[end + 4..]).unwrap_or_default());
        }
    }
}
