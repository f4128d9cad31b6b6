//! An HTTP/1.1 client on byte level: request targets are sent exactly as generated.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::Server;

/// A watch without data for this time has sent its initial objects.
const SILENCE: Duration = Duration::from_millis(40);
/// Maximum time for any other response.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A request; method and target are sent byte for byte.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// The bearer token.
    pub token: &'a str,
    pub accept: &'a str,
    pub content_type: &'a str,
    pub body: &'a str,
}

impl<'a> Request<'a> {
    /// Builds a request with a JSON body, which may be empty.
    pub fn json(token: &'a str, method: &'a str, target: &'a str, body: &'a str) -> Request<'a> {
        Request { method, target, token, accept: "application/json", content_type: "application/json", body }
    }
}

/// A response of the server.
pub struct Answer {
    pub code: u16,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Parses the body; null when it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A connection that is reopened when the server closes it.
pub struct Connection {
    address: String,
    tls: TlsConnector,
    stream: Option<TlsStream<TcpStream>>,
}

impl Connection {
    pub fn new(server: &Server) -> Connection {
        let kubeconfig = std::fs::read_to_string(server.kubeconfig()).unwrap();
        let prefix = "certificate-authority-data: ";
        let encoded = kubeconfig.lines().find_map(|line| line.trim().strip_prefix(prefix)).unwrap();
        let pem =
            base64::Engine::decode(&base64::engine::general_purpose::STANDARD, encoded.trim_matches('"')).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&pem).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let address = server.url.trim_start_matches("https://").to_owned();
        Connection { address, tls: TlsConnector::from(Arc::new(config)), stream: None }
    }

    /// Sends a request and reads the response. A watch is read until `SILENCE`.
    pub async fn send(&mut self, request: Request<'_>) -> Answer {
        for _ in 0..3 {
            if self.stream.is_none() {
                self.stream = Some(self.open().await);
            }
            // The server may close an idle connection, or close one after a response.
            if let Ok(answer) = tokio::time::timeout(TIMEOUT, self.exchange(request)).await.expect("an answer") {
                return answer;
            }
            self.stream = None;
        }
        panic!("{} {}: no response in three attempts", request.method, request.target);
    }

    /// Opens a separate connection.
    pub async fn open(&self) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(&self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        self.tls.connect(ServerName::try_from("127.0.0.1").unwrap(), stream).await.unwrap()
    }

    async fn exchange(&mut self, request: Request<'_>) -> std::io::Result<Answer> {
        let Request { method, target, token, accept, content_type, body } = request;
        let length = body.len();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nAccept: {accept}\r\n\
             Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n",
            self.address
        );
        let stream = self.stream.as_mut().ok_or(std::io::ErrorKind::NotConnected)?;
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
        stream.flush().await?;
        let mut received = Vec::new();
        let head_end = loop {
            read_some(stream, &mut received).await?;
            if let Some(at) = received.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
        };
        let head = String::from_utf8_lossy(&received[..head_end]).to_ascii_lowercase();
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or(std::io::ErrorKind::InvalidData)?;
        let rest = received.split_off(head_end);
        let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let (body, whole) = match field("content-length:").and_then(|length| length.parse::<usize>().ok()) {
            _ if method == "HEAD" || code == 204 || code == 304 => (Vec::new(), true),
            Some(length) => (read_length(stream, rest, length).await?, true),
            None if field("transfer-encoding:").is_some() => read_chunks(stream, rest).await?,
            None => (Vec::new(), true),
        };
        if !whole || field("connection:") == Some("close") {
            self.stream = None;
        }
        Ok(Answer { code, body })
    }
}

async fn read_some(stream: &mut TlsStream<TcpStream>, into: &mut Vec<u8>) -> std::io::Result<()> {
    if stream.read_buf(into).await? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

async fn read_length(stream: &mut TlsStream<TcpStream>, mut body: Vec<u8>, length: usize) -> std::io::Result<Vec<u8>> {
    while body.len() < length {
        read_some(stream, &mut body).await?;
    }
    Ok(body)
}

/// Reads chunks up to the last one, or until `SILENCE`; reports whether the last one was received.
async fn read_chunks(stream: &mut TlsStream<TcpStream>, mut raw: Vec<u8>) -> std::io::Result<(Vec<u8>, bool)> {
    loop {
        if let (body, true) = dechunk(&raw) {
            return Ok((body, true));
        }
        match tokio::time::timeout(SILENCE, read_some(stream, &mut raw)).await {
            Ok(read) => read?,
            Err(_) => return Ok((dechunk(&raw).0, false)),
        }
    }
}

/// Returns the content of chunks, and whether the last one is among them.
fn dechunk(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(at) = raw.windows(2).position(|window| window == b"\r\n") else { return (body, false) };
        let size = std::str::from_utf8(&raw[..at]).ok().and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
        let Some(size) = size else { return (body, false) };
        let Some(chunk) = raw.get(at + 2..at + 2 + size) else { return (body, false) };
        if size == 0 {
            return (body, true);
        }
        body.extend_from_slice(chunk);
        raw = raw.get(at + 4 + size..).unwrap_or_default();
    }
}
