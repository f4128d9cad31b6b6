//! HTTP/1.1 over TLS to one server, as the users of a kubeconfig and of the command line.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dial::kubeconfig::{self, Access};
use dial::{Dial, HTTP1};
use http::{HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::body::Headers;
use crate::error::{Error, Result};
use crate::play::{Answer, Content, Server};
use crate::request::Outgoing;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// A server at the other end of connections that are used again.
pub struct Remote {
    /// With the client certificate of the kubeconfig.
    certified: Pool,
    /// Without one.
    plain: Pool,
    /// The token of the kubeconfig.
    token: Option<String>,
    /// Tokens of further users, by name.
    users: HashMap<String, String>,
}

/// Connections with one client certificate, or none.
struct Pool {
    dial: Dial,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
}

impl Remote {
    /// The server and the user of a kubeconfig's current context, and further users by their tokens.
    ///
    /// A user `admin` stands in place of that of the kubeconfig.
    ///
    /// # Errors
    /// A kubeconfig, certificate or key that cannot be read.
    pub fn new(kubeconfig: &Path, users: HashMap<String, String>) -> Result<Self> {
        Remote::with_access(kubeconfig::read(kubeconfig)?, users)
    }

    /// The same of a kubeconfig that has been read.
    ///
    /// # Errors
    /// A certificate or key that cannot be read.
    pub fn with_access(access: Access, users: HashMap<String, String>) -> Result<Self> {
        let token = access.token.clone();
        let plain = Access {
            host: access.host.clone(),
            port: access.port,
            authority: access.authority.clone(),
            certificate: None,
            token: None,
        };
        Ok(Remote { certified: Pool::new(access)?, plain: Pool::new(plain)?, token, users })
    }

    /// The connections and the token of a request.
    fn credentials<'a>(&'a self, request: &'a Outgoing) -> (&'a Pool, Option<&'a str>) {
        if request.headers.iter().any(|(name, _)| name == "Authorization") {
            return (&self.plain, None);
        }
        match (request.user.as_str(), self.users.get(&request.user)) {
            (_, Some(token)) => (&self.plain, Some(token)),
            ("admin", None) => (&self.certified, self.token.as_deref()),
            ("", None) => (&self.plain, None),
            (token, None) => (&self.plain, Some(token)),
        }
    }

    async fn exchange(&self, request: &Outgoing, stream: bool) -> Result<Answer> {
        let (pool, token) = self.credentials(request);
        let (mut sender, response) = pool.send(self.message(pool, request, token)?).await?;
        let status = response.status().as_u16();
        let headers = headers(&response);
        if stream && status == 200 {
            let (into, out) = unbounded_channel();
            // The connection lives as long as its sender.
            tokio::spawn(async move { pass_on(response.into_body(), into, sender).await });
            return Ok(Answer { status, headers, content: Content::Stream(out) });
        }
        if status == 101 {
            return Ok(Answer { status, headers, content: Content::Whole(Vec::new()) });
        }
        let body = response.into_body().collect().await?.to_bytes();
        if sender.ready().await.is_ok() {
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        }
        Ok(Answer { status, headers, content: Content::Whole(body.into()) })
    }

    fn message(&self, pool: &Pool, request: &Outgoing, token: Option<&str>) -> Result<Request<Full<Bytes>>> {
        let mut message = Request::builder().method(request.method.as_str()).uri(&request.path);
        message = message.header("host", pool.dial.authority());
        if let Some(token) = token {
            message = message.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(http::Error::from)?;
            message = message.header(name, HeaderValue::from_bytes(&latin1(value)).map_err(http::Error::from)?);
        }
        let body = request.body.clone().unwrap_or_default();
        if request.body.is_some() || ["POST", "PUT", "PATCH"].contains(&request.method.as_str()) {
            message = message.header("content-length", body.len());
        }
        Ok(message.body(Full::new(Bytes::from(body)))?)
    }
}

impl Server for Remote {
    async fn send(&self, request: &Outgoing, stream: bool) -> Result<Answer> {
        tokio::time::timeout(PATIENCE, self.exchange(request, stream)).await.map_err(|_| Error::Timeout(PATIENCE))?
    }
}

impl Pool {
    fn new(access: Access) -> Result<Self> {
        Ok(Pool { dial: Dial::new(access)?, idle: Mutex::default() })
    }

    /// Sends a request on an idle connection or a new one; one that was not written before its connection closed is
    /// sent again.
    async fn send(
        &self,
        mut message: Request<Full<Bytes>>,
    ) -> Result<(SendRequest<Full<Bytes>>, http::Response<Incoming>)> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let (mut sender, fresh) = match idle {
                Some(sender) if !sender.is_ready() => continue,
                Some(sender) => (sender, false),
                None => (self.connect().await?, true),
            };
            match sender.try_send_request(message).await {
                Ok(response) => return Ok((sender, response)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) if !fresh => message = unsent,
                    _ => return Err(error.into_error().into()),
                },
            }
        }
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>> {
        let tls = self.dial.connect(HTTP1).await?;
        let (sender, connection) = handshake(TokioIo::new(tls)).await?;
        tokio::spawn(connection.with_upgrades());
        Ok(sender)
    }
}

/// Sends the pieces of a body until the body ends or nothing receives them.
async fn pass_on(mut body: Incoming, into: UnboundedSender<Vec<u8>>, sender: SendRequest<Full<Bytes>>) {
    let closed = into.clone();
    let pieces = async {
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.into_data().unwrap_or_default();
            if into.send(bytes.into()).is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = pieces => {}
        () = closed.closed() => {}
    }
    drop(sender);
}

/// The type of what a stream is read from.
pub type Pieces = UnboundedReceiver<Vec<u8>>;

fn headers(response: &http::Response<Incoming>) -> Headers {
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        // Python reads headers as Latin-1, and the recordings have them so.
        let value = value.as_bytes().iter().map(|byte| char::from(*byte)).collect();
        (name.as_str().to_string(), value)
    };
    response.headers().iter().map(header).collect()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(token: Option<&str>) -> Access {
        let token = token.map(str::to_string);
        Access { host: "localhost".into(), port: 1, authority: None, certificate: None, token }
    }

    fn request(user: &str, headers: &[(&str, &str)]) -> Outgoing {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Outgoing { method: "GET".into(), path: "/".into(), headers: headers.collect(), body: None, user: user.into() }
    }

    /// Whether the client certificate is sent, and the token.
    fn sent(remote: &Remote, request: &Outgoing) -> (bool, Option<String>) {
        let (pool, token) = remote.credentials(request);
        (std::ptr::eq(pool, &remote.certified), token.map(str::to_string))
    }

    #[test]
    fn each_user_has_its_credentials() {
        let users = HashMap::from([("alice".to_string(), "a".to_string())]);
        let remote = Remote::with_access(access(Some("t")), users).unwrap();
        let token = |token: &str| Some(token.to_string());
        assert_eq!(sent(&remote, &request("admin", &[])), (true, token("t")));
        assert_eq!(sent(&remote, &request("alice", &[])), (false, token("a")));
        assert_eq!(sent(&remote, &request("some.token", &[])), (false, token("some.token")));
        assert_eq!(sent(&remote, &request("", &[])), (false, None));
        assert_eq!(sent(&remote, &request("admin", &[("Authorization", "Basic x")])), (false, None));
        let users = HashMap::from([("admin".to_string(), "b".to_string())]);
        let remote = Remote::with_access(access(Some("t")), users).unwrap();
        assert_eq!(sent(&remote, &request("admin", &[])), (false, token("b")));
    }

    #[test]
    fn messages_have_a_length_where_they_need_one() {
        let remote = Remote::with_access(access(None), HashMap::new()).unwrap();
        let length = |method: &str, body: Option<&str>| {
            let body = body.map(|body| body.as_bytes().to_vec());
            let request = Outgoing { method: method.into(), body, ..request("admin", &[("X-A", "\u{e9}")]) };
            let message = remote.message(&remote.plain, &request, Some("t")).unwrap();
            assert_eq!(message.headers()["authorization"], "Bearer t");
            assert_eq!(message.headers()["x-a"].as_bytes(), [0xe9]);
            message.headers().get("content-length").map(|length| length.to_str().unwrap().to_string())
        };
        assert_eq!(length("GET", None), None);
        assert_eq!(length("POST", None).as_deref(), Some("0"));
        assert_eq!(length("DELETE", Some("{}")).as_deref(), Some("2"));
    }
}
