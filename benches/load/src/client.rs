//! HTTP/2 over TLS to one server: a connection for each client, as controllers use.

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

/// A connector for one server.
pub struct Server(Dial);

impl Server {
    pub fn new(access: Access) -> Result<Self> {
        Ok(Server(Dial::new(access)?))
    }

    /// Opens a separate connection.
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

    /// Opens a connection for manually written HTTP/1.1.
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

/// A request to the API server.
#[derive(Clone)]
pub struct ApiRequest {
    pub method: Method,
    pub path: String,
    pub accept: &'static str,
    pub gzip: bool,
    pub content_type: &'static str,
    pub body: Bytes,
    /// The impersonated user, without groups.
    pub user: Option<&'static str>,
}

impl ApiRequest {
    pub fn get(path: impl Into<String>) -> Self {
        let (accept, content_type) = ("application/json", "");
        ApiRequest {
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
        ApiRequest { method: Method::POST, content_type: "application/json", body, ..ApiRequest::get(path) }
    }
}

/// A response.
pub struct Answer {
    pub first_byte: Duration,
    pub length: usize,
    pub body: Vec<u8>,
}

impl Client {
    /// Returns the HTTP/2 sender.
    pub fn into_sender(self) -> SendRequest<Full<Bytes>> {
        self.sender
    }

    /// Sends a request; returns when the response head has arrived.
    pub async fn send(&mut self, api_request: &ApiRequest) -> Result<Response<Incoming>> {
        let mut request = Request::builder()
            .method(api_request.method.clone())
            .uri(format!("https://{}{}", self.authority, api_request.path))
            .header(ACCEPT, api_request.accept)
            .header(HOST, &self.authority)
            .header("user-agent", "load/1.0");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(user) = api_request.user {
            request = request.header("impersonate-user", user);
        }
        if api_request.gzip {
            request = request.header(ACCEPT_ENCODING, "gzip");
        }
        if !api_request.content_type.is_empty() {
            request = request.header(CONTENT_TYPE, api_request.content_type);
        }
        self.sender.ready().await?;
        Ok(self.sender.send_request(request.body(Full::new(api_request.body.clone()))?).await?)
    }

    /// Sends a request and reads the response; counts its bytes, and keeps them only with `keep`.
    pub async fn call(&mut self, api_request: &ApiRequest, keep: bool) -> Result<Answer> {
        let began = Instant::now();
        let response = self.send(api_request).await?;
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
            return Err(Error::Answer {
                method: api_request.method.clone(),
                path: api_request.path.clone(),
                code,
                body,
            });
        }
        Ok(answer)
    }
}
