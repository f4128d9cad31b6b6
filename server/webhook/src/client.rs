//! An HTTP client of one server, or of several with the same trust settings. It pools connections.

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

/// How long an idle connection is kept (Go: `IdleConnTimeout`).
const IDLE: Duration = Duration::from_secs(90);

/// Sends requests. Clones share connections.
#[derive(Clone)]
pub struct Client {
    inner: HyperClient<Connector, Body>,
    /// The source of the `Authorization` header.
    authorization: Option<Authorization>,
}

/// A complete response.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: http::HeaderMap,
    pub body: Bytes,
}

impl Reply {
    /// Returns the media type of the body.
    pub fn content_type(&self) -> &str {
        self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the error text of client-go for an unsuccessful response
    /// (`errors.NewGenericServerResponse`).
    pub fn refusal(&self) -> Option<String> {
        if self.status.is_success() {
            return None;
        }
        let is_text = matches!(self.content_type(), "") || self.content_type().starts_with("text/");
        let message = if is_text { String::from_utf8_lossy(&self.body).trim().to_owned() } else { "unknown".into() };
        Some(match self.status.as_u16() {
            400 => "the server rejected our request for an unknown reason".into(),
            401 => "the server has asked for the client to provide credentials".into(),
            403 => message,
            404 => "the server could not find the requested resource".into(),
            405 => "the server does not allow this method on the requested resource".into(),
            409 => "the server reported a conflict".into(),
            422 => "the server rejected our request due to an error in our request".into(),
            429 => "the server has received too many requests and has asked us to try again later".into(),
            503 => "the server is currently unable to handle the request".into(),
            504 => "the server was unable to return a response in the time allotted, but may still be processing the request".into(),
            500.. => format!("an error on the server ({message:?}) has prevented the request from succeeding"),
            code => format!("the server responded with the status code {code} but did not return more information"),
        })
    }
}

impl Client {
    /// Creates a client with these trust settings.
    ///
    /// # Errors
    /// Returns an error for malformed certificates or keys.
    pub fn new(trust: &Trust) -> Result<Self, Error> {
        let server_name = trust.server_name.as_deref().map(Arc::from);
        let (remote_only, route) = (trust.remote_only, trust.route.clone());
        let connector = Connector { config: trust.config()?, server_name, remote_only, route };
        let inner = HyperClient::builder(TokioExecutor::new()).pool_idle_timeout(IDLE).build(connector);
        Ok(Client { inner, authorization: None })
    }

    /// Sets the authorization of every request.
    pub(crate) fn with_authorization(mut self, authorization: Authorization) -> Self {
        self.authorization = Some(authorization);
        self
    }

    /// Sends a request and waits for the response headers. Redirects are returned, not followed.
    ///
    /// # Errors
    /// Returns an error without a response.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, Error> {
        if let Some(value) = self.authorization.as_ref().and_then(Authorization::header) {
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        let (method, uri) = (request.method().clone(), request.uri().clone());
        self.inner.request(request).await.map_err(|error| Error::failed(&method, &uri, &error))
    }

    /// Sends a request and reads the whole response, of at most `limit` bytes, within `time`.
    ///
    /// # Errors
    /// Returns an error without a response, after the timeout, or if the response is too long.
    pub async fn exchange(&self, request: Request<Body>, time: Duration, limit: usize) -> Result<Reply, Error> {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        // Proxied requests are not counted, because clients choose their host.
        let call = metrics::MeasuredRequest::begin(&method, &uri, request.body().size_hint().exact());
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
    /// Returns the errors of [`Client::exchange`].
    pub async fn get(&self, uri: &Uri, time: Duration, limit: usize) -> Result<Reply, Error> {
        self.exchange(request(Method::GET, uri, Bytes::new()), time, limit).await
    }

    /// Posts a JSON document.
    ///
    /// # Errors
    /// Returns the errors of [`Client::exchange`].
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
