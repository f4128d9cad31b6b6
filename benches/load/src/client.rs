//! HTTP/2 over TLS to one server: a connection per client, as controllers have.

use std::time::{Duration, Instant};

use bytes::Bytes;
use dial::error::{Error, Result};
use dial::kubeconfig::Access;
use dial::{Dial, HTTP1, HTTP2};
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A server that connections can be made to.
pub struct Server(Dial);

impl Server {
    pub fn new(access: Access) -> Result<Self> {
        Ok(Server(Dial::new(access)?))
    }

    /// A connection of its own.
    pub async fn connect(&self) -> Result<Client> {
        let tls = self.0.connect(HTTP2).await?;
        let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(4 << 20)
            .initial_connection_window_size(16 << 20)
            .max_frame_size(64 << 10)
            .handshake(TokioIo::new(tls))
            .await?;
        tokio::spawn(connection);
        let token = self.0.access.token.as_ref();
        let authorization = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}"))).transpose();
        let authorization = authorization.map_err(http::Error::from)?;
        Ok(Client { sender, authority: self.0.authority(), authorization })
    }

    /// A connection on which HTTP/1.1 can be spoken by hand.
    pub async fn connect_raw(&self) -> Result<TlsStream<TcpStream>> {
        self.0.connect(HTTP1).await
    }
}

/// One connection. Clones share it.
#[derive(Clone)]
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
    authority: String,
    authorization: Option<HeaderValue>,
}

/// A request, as workloads say it.
#[derive(Clone)]
pub struct Ask {
    pub method: Method,
    pub path: String,
    pub accept: &'static str,
    pub gzip: bool,
    pub content_type: &'static str,
    pub body: Bytes,
    /// Who to be instead, a user of no group.
    pub user: Option<&'static str>,
}

impl Ask {
    pub fn get(path: impl Into<String>) -> Self {
        let (accept, content_type) = ("application/json", "");
        Ask {
            method: Method::GET,
            path: path.into(),
            accept,
            gzip: false,
            content_type,
            body: Bytes::new(),
            user: None,
        }
    }

    pub fn post(path: impl Into<String>, body: &Value) -> Self {
        let body = body.to_string().into();
        Ask { method: Method::POST, content_type: "application/json", body, ..Ask::get(path) }
    }
}

/// What came back.
pub struct Answer {
    pub first_byte: Duration,
    pub length: usize,
    pub body: Vec<u8>,
}

impl Client {
    /// What requests are sent with.
    pub fn into_sender(self) -> SendRequest<Full<Bytes>> {
        self.sender
    }

    /// Sends a request and gives the answer when its head has come.
    pub async fn send(&mut self, ask: &Ask) -> Result<Response<Incoming>> {
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(format!("https://{}{}", self.authority, ask.path))
            .header(ACCEPT, ask.accept)
            .header(HOST, &self.authority)
            .header("user-agent", "load/1.0");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(user) = ask.user {
            request = request.header("impersonate-user", user);
        }
        if ask.gzip {
            request = request.header(ACCEPT_ENCODING, "gzip");
        }
        if !ask.content_type.is_empty() {
            request = request.header(CONTENT_TYPE, ask.content_type);
        }
        self.sender.ready().await?;
        Ok(self.sender.send_request(request.body(Full::new(ask.body.clone()))?).await?)
    }

    /// Sends a request and reads the answer; its bytes are counted, and kept only when they are asked for.
    pub async fn ask(&mut self, ask: &Ask, keep: bool) -> Result<Answer> {
        let began = Instant::now();
        let response = self.send(ask).await?;
        let code = response.status().as_u16();
        let mut answer = Answer { first_byte: Duration::ZERO, length: 0, body: Vec::new() };
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            if answer.length == 0 {
                answer.first_byte = began.elapsed();
            }
            answer.length += data.len();
            if keep || code >= 300 {
                answer.body.extend_from_slice(&data);
            }
        }
        if code >= 300 {
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            return Err(Error::Answer { method: ask.method.clone(), path: ask.path.clone(), code, body });
        }
        Ok(answer)
    }
}
