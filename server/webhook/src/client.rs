//! A client of one server, or of several that are trusted alike. Its connections are kept and used again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body::Body as _;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::rt::TokioExecutor;

use crate::connect::Connector;
use crate::token::Authorization;
use crate::{Error, Trust, metrics};

/// The body of a request.
pub type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// How long a connection is kept that nobody uses (Go: `IdleConnTimeout`).
const IDLE: Duration = Duration::from_secs(90);

/// Sends requests. Clones share connections.
#[derive(Clone)]
pub struct Client {
    inner: HyperClient<Connector, Body>,
    /// What is sent as `Authorization`.
    authorization: Option<Authorization>,
}

/// An answer as a whole.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: http::HeaderMap,
    pub body: Bytes,
}

impl Reply {
    /// What kind of document the body is.
    pub fn content_type(&self) -> &str {
        self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Why the request was refused, in the words of client-go (`errors.NewGenericServerResponse`); none when it was not.
    pub fn refusal(&self) -> Option<String> {
        if self.status.is_success() {
            return None;
        }
        let is_text = matches!(self.content_type(), "") || self.content_type().starts_with("text/");
        let said = if is_text { String::from_utf8_lossy(&self.body).trim().to_owned() } else { "unknown".into() };
        Some(match self.status.as_u16() {
            400 => "the server rejected our request for an unknown reason".into(),
            401 => "the server has asked for the client to provide credentials".into(),
            403 => said,
            404 => "the server could not find the requested resource".into(),
            405 => "the server does not allow this method on the requested resource".into(),
            409 => "the server reported a conflict".into(),
            422 => "the server rejected our request due to an error in our request".into(),
            429 => "the server has received too many requests and has asked us to try again later".into(),
            503 => "the server is currently unable to handle the request".into(),
            504 => "the server was unable to return a response in the time allotted, but may still be processing the request".into(),
            500.. => format!("an error on the server ({said:?}) has prevented the request from succeeding"),
            code => format!("the server responded with the status code {code} but did not return more information"),
        })
    }
}

impl Client {
    /// A client of servers that are trusted in this way.
    ///
    /// # Errors
    /// When certificates or keys are none.
    pub fn new(trust: &Trust) -> Result<Self, Error> {
        let server_name = trust.server_name.as_deref().map(Arc::from);
        let (remote_only, route) = (trust.remote_only, trust.route.clone());
        let connector = Connector { config: trust.config()?, server_name, remote_only, route };
        let inner = HyperClient::builder(TokioExecutor::new()).pool_idle_timeout(IDLE).build(connector);
        Ok(Client { inner, authorization: None })
    }

    /// Sends this with every request.
    pub(crate) fn with_authorization(mut self, authorization: Authorization) -> Self {
        self.authorization = Some(authorization);
        self
    }

    /// Sends a request and waits for the head of the answer. A redirect is an answer like others: it is not followed.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, Error> {
        if let Some(value) = self.authorization.as_ref().and_then(Authorization::header) {
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        let (method, uri) = (request.method().clone(), request.uri().clone());
        self.inner.request(request).await.map_err(|error| Error::failed(&method, &uri, &error))
    }

    /// Sends a request and reads the whole answer, of at most `limit` bytes, within a time.
    ///
    /// # Errors
    /// When there is no answer, it takes too long or is too long.
    pub async fn exchange(&self, request: Request<Body>, time: Duration, limit: usize) -> Result<Reply, Error> {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        // Requests that clients have this server pass on are not counted: they choose the host.
        let call = metrics::Call::begin(&method, &uri, request.body().size_hint().exact());
        let whole = async {
            let (head, body) = self.send(request).await?.into_parts();
            call.answered(head.status);
            let body =
                Limited::new(body, limit).collect().await.map_err(|error| match error.is::<LengthLimitError>() {
                    true => Error::TooLarge { limit },
                    false => Error::failed(&method, &uri, &*error),
                })?;
            let body = body.to_bytes();
            call.received(body.len());
            Ok(Reply { status: head.status, headers: head.headers, body })
        };
        tokio::time::timeout(time, whole).await.unwrap_or_else(|_| Err(Error::timeout(&method, &uri)))
    }

    /// Gets a document.
    ///
    /// # Errors
    /// Those of [`Client::exchange`].
    pub async fn get(&self, uri: &Uri, time: Duration, limit: usize) -> Result<Reply, Error> {
        self.exchange(request(Method::GET, uri, Bytes::new()), time, limit).await
    }

    /// Posts a JSON document.
    ///
    /// # Errors
    /// Those of [`Client::exchange`].
    pub async fn post_json(&self, uri: &Uri, json: Bytes, time: Duration, limit: usize) -> Result<Reply, Error> {
        let mut request = request(Method::POST, uri, json);
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, */*"));
        request.headers_mut().insert(CONTENT_TYPE, json);
        self.exchange(request, time, limit).await
    }
}

fn request(method: Method, uri: &Uri, body: Bytes) -> Request<Body> {
    let mut request = Request::new(Full::new(body).map_err(|never| match never {}).boxed_unsync());
    *request.method_mut() = method;
    *request.uri_mut() = uri.clone();
    request
}
