//! Requests for any resource, in the process: of the catalog, custom, or of aggregated servers.
//!
//! A request takes the way of a client's request from routing on: conversion, admission, storage,
//! and forwarding. It skips authentication, authorization and flow control.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderValue, Method};
use machinery::status::{GroupResource, Status};
use request::warnings::Warnings;
use request::{Body, Handler, Request, RequestInfo, User};
use serde_json::Value;

/// The name of upstream's program, which becomes the field manager.
const AGENT: HeaderValue = HeaderValue::from_static("kube-controller-manager");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Metadata of objects, and of lists.
const METADATA: HeaderValue = HeaderValue::from_static(
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
     application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
);
/// Metadata of an object.
const OBJECT_METADATA: HeaderValue =
    HeaderValue::from_static("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
/// Maximum size of an answer in bytes.
const MAX_ANSWER: usize = 1 << 30;

/// A client for any resource.
#[derive(Clone)]
pub struct Client {
    handler: Arc<dyn Handler>,
    user: Arc<User>,
}

/// The body of a request with its media type.
type Content = (&'static str, Bytes);

impl Client {
    /// Creates a client with this user.
    pub fn new(handler: Arc<dyn Handler>, user: User) -> Self {
        Client { handler, user: Arc::new(user) }
    }

    /// Reads the metadata of an object or of a list.
    ///
    /// # Errors
    /// The failure that the server answered with.
    pub async fn metadata(&self, path: &str) -> Result<Value, Status> {
        self.send(Method::GET, path, METADATA, None).await
    }

    /// Deletes an object or a collection; the answer has metadata only.
    ///
    /// # Errors
    /// The failure that the server answered with.
    pub async fn delete(&self, path: &str, options: &Value) -> Result<Value, Status> {
        let content = ("application/json", Bytes::from(options.to_string()));
        self.send(Method::DELETE, path, METADATA, Some(content)).await
    }

    /// Changes an object by a JSON merge patch; the answer has metadata only.
    ///
    /// # Errors
    /// The failure that the server answered with.
    pub async fn patch(&self, path: &str, change: &Value) -> Result<Value, Status> {
        let content = ("application/merge-patch+json", Bytes::from(change.to_string()));
        self.send(Method::PATCH, path, OBJECT_METADATA, Some(content)).await
    }

    /// Applies a configuration to an object (server-side apply); the answer has metadata only.
    ///
    /// # Errors
    /// The failure that the server answered with.
    pub async fn apply(&self, path: &str, configuration: &Value) -> Result<Value, Status> {
        let content = ("application/apply-patch+yaml", Bytes::from(configuration.to_string()));
        self.send(Method::PATCH, path, OBJECT_METADATA, Some(content)).await
    }

    /// Sends a request, and reads its answer. The request completes even if the caller is dropped.
    async fn send(
        &self,
        method: Method,
        path: &str,
        accept: HeaderValue,
        content: Option<Content>,
    ) -> Result<Value, Status> {
        let request = self.request(method, path, accept, content)?;
        let handler = self.handler.clone();
        let answer = tokio::spawn(async move {
            let response = handler.handle(request).await;
            let code = response.status().as_u16();
            response.into_body().read(MAX_ANSWER).await.map(|body| (code, body))
        });
        let (code, body) = match answer.await {
            Ok(answer) => answer.map_err(Status::internal)?,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => return Err(Status::service_unavailable("the server is shutting down")),
        };
        let document: Value = serde_json::from_slice(&body).unwrap_or_default();
        if (200..300).contains(&code) { Ok(document) } else { Err(failure(code, path, &document)) }
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        accept: HeaderValue,
        content: Option<Content>,
    ) -> Result<Request, Status> {
        let uri: http::Uri = path.parse().map_err(Status::internal)?;
        let info = RequestInfo::new(&method, &uri).map_err(Status::internal)?;
        let (media_type, body) = match content {
            Some((media_type, bytes)) => (HeaderValue::from_static(media_type), Body::full(bytes)),
            None => (JSON, Body::empty()),
        };
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut()) = (method, uri);
        request.headers_mut().extend([(ACCEPT, accept), (CONTENT_TYPE, media_type), (USER_AGENT, AGENT)]);
        request.extensions_mut().insert(Arc::new(info));
        request.extensions_mut().insert(self.user.clone());
        request.extensions_mut().insert(Warnings::default());
        Ok(request)
    }
}

/// Converts a failure of the server. Reasons other than these are decided by the code.
fn failure(code: u16, path: &str, document: &Value) -> Status {
    let Some(message) = document["message"].as_str() else {
        return Status::answered(code, GroupResource { group: "", resource: path }, "", "unknown");
    };
    let known = ["AlreadyExists", "Conflict", "NotFound", "MethodNotAllowed", "Invalid", "Forbidden"];
    let reason = document["reason"].as_str().and_then(|reason| known.into_iter().find(|known| *known == reason));
    Status::new(code, reason.unwrap_or_default(), message)
}
