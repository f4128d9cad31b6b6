//! A client of one server, or of several that are trusted alike. Its connections are kept and used again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::rt::TokioExecutor;

use crate::connect::Connector;
use crate::{Error, Trust};

/// The body of a request.
pub type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// How long a connection is kept that nobody uses (Go: `IdleConnTimeout`).
const IDLE: Duration = Duration::from_secs(90);

/// Sends requests. Clones share connections.
#[derive(Clone)]
pub struct Client {
    inner: HyperClient<Connector, Body>,
    /// What is sent as `Authorization`.
    authorization: Option<HeaderValue>,
}

/// An answer as a whole.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: http::HeaderMap,
    pub body: Bytes,
}

impl Client {
    /// A client of servers that are trusted in this way.
    ///
    /// # Errors
    /// When certificates or keys are none.
    pub fn new(trust: &Trust) -> Result<Self, Error> {
        let server_name = trust.server_name.as_deref().map(Arc::from);
        let connector = Connector { config: trust.config()?, server_name, remote_only: trust.remote_only };
        let inner = HyperClient::builder(TokioExecutor::new()).pool_idle_timeout(IDLE).build(connector);
        Ok(Client { inner, authorization: None })
    }

    /// Sends this with every request.
    pub fn with_authorization(mut self, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.authorization = Some(value);
        self
    }

    /// Sends a request and waits for the head of the answer. A redirect is an answer like others: it is not followed.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, Error> {
        if let Some(value) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, value.clone());
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
        let whole = async {
            let (head, body) = self.send(request).await?.into_parts();
            let body =
                Limited::new(body, limit).collect().await.map_err(|error| match error.is::<LengthLimitError>() {
                    true => Error::TooLarge { limit },
                    false => Error::failed(&method, &uri, &*error),
                })?;
            Ok(Reply { status: head.status, headers: head.headers, body: body.to_bytes() })
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
