//! HTTP/1.1 over TLS to one server. Paths and headers are sent unchanged, even invalid ones.

use std::time::Duration;

use dial::kubeconfig::Access;
use dial::{Dial, HTTP1};
use http::{HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use tokio::sync::Mutex;

use crate::error::{Error, Result};
use crate::play::{Answer, Exchange, Server};

/// Maximum time until a response.
const TIMEOUT: Duration = Duration::from_secs(40);

/// A server at the other end of a connection.
pub struct Remote {
    dial: Dial,
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Remote {
    pub fn new(access: Access) -> Result<Self> {
        Ok(Remote { dial: Dial::new(access)?, connection: Mutex::new(None) })
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>> {
        let tls = self.dial.connect(HTTP1).await?;
        let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(tls)).await?;
        tokio::spawn(connection.with_upgrades());
        Ok(sender)
    }

    fn request(&self, exchange: &Exchange) -> Result<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(exchange.method.as_str()).uri(&exchange.path);
        request = request.header("host", self.address());
        for (name, value) in &exchange.headers {
            request = request.header(name, HeaderValue::from_bytes(value.as_bytes()).map_err(http::Error::from)?);
        }
        match (&exchange.user, &self.dial.access.token) {
            (Some(user), _) if user.is_empty() => {}
            (Some(token), _) | (None, Some(token)) => {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            (None, None) => {}
        }
        let body = exchange.body.clone().unwrap_or_default();
        if exchange.body.is_some() || ["POST", "PUT", "PATCH"].contains(&exchange.method.as_str()) {
            request = request.header("content-length", body.len());
        }
        Ok(request.body(Full::new(Bytes::from(body)))?)
    }

    async fn exchange(&self, exchange: &Exchange) -> Result<Answer> {
        let mut kept = self.connection.lock().await;
        // The server may have closed a kept connection; the request is then sent once more on a new
        // one.
        let mut old = kept.take().filter(SendRequest::is_ready);
        loop {
            let fresh = old.is_none();
            let mut sender = match old.take() {
                Some(sender) => sender,
                None => self.connect().await?,
            };
            let response = match sender.send_request(self.request(exchange)?).await {
                Ok(response) => response,
                Err(_) if !fresh => continue,
                Err(error) => return Err(error.into()),
            };
            let answer = read(response, exchange).await?;
            if exchange.quiet.is_none() && sender.ready().await.is_ok() {
                *kept = Some(sender);
            }
            return Ok(answer);
        }
    }
}

/// Reads a whole response, or the stream of a watch until it is quiet.
async fn read(response: http::Response<Incoming>, exchange: &Exchange) -> Result<Answer> {
    let header = |(name, value): (&http::HeaderName, &HeaderValue)| {
        (name.as_str().to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let mut answer = Answer {
        status: response.status().as_u16(),
        headers: response.headers().iter().map(header).collect(),
        body: Vec::new(),
        closed: true,
    };
    let quiet = exchange.quiet.filter(|_| answer.status == 200);
    let mut body = response.into_body();
    if answer.status == 101 {
        return Ok(answer);
    }
    loop {
        let frame = match quiet {
            Some(quiet) => match tokio::time::timeout(quiet, body.frame()).await {
                Ok(frame) => frame,
                Err(_) => {
                    answer.closed = false;
                    break;
                }
            },
            None => body.frame().await,
        };
        match frame {
            Some(frame) => answer.body.extend(frame?.into_data().unwrap_or_default()),
            None => break,
        }
    }
    Ok(answer)
}

impl Server for Remote {
    async fn send(&self, exchange: &Exchange) -> Result<Answer> {
        let late = |_| Error::Other(format!("no answer to {} {}", exchange.method, exchange.path));
        tokio::time::timeout(TIMEOUT, self.exchange(exchange)).await.map_err(late)?
    }

    fn address(&self) -> String {
        self.dial.authority()
    }
}
