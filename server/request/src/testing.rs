//! Requests, responses and handlers for tests.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::sync::Arc;

use tokio::sync::Notify;

use crate::body::Body;
use crate::handler::{BoxFuture, FromFn, Handler, Request, RequestExt, Response};
use crate::request_info::RequestInfo;
use crate::user::User;
use crate::warnings::Warnings;

/// A request as it is after the first filters.
pub fn request(method: &str, uri: &str) -> Request {
    let mut request = http::Request::builder().method(method).uri(uri).body(Body::empty()).unwrap();
    let info = RequestInfo::new(request.method(), request.uri()).unwrap();
    request.extensions_mut().insert(Arc::new(info));
    request.extensions_mut().insert(Warnings::default());
    request
}

/// A request by this user.
pub fn request_by(user: User, method: &str, uri: &str) -> Request {
    let mut request = request(method, uri);
    request.extensions_mut().insert(Arc::new(user));
    request
}

/// A handler that replies with the user.
pub fn echo_user() -> impl Handler {
    FromFn(|request: Request| {
        let user = request.user().map(|u| format!("{} {:?} {}", u.name, u.groups, u.uid)).unwrap_or_default();
        Response::new(Body::full(user))
    })
}

/// A handler that replies `ok`.
pub fn ok() -> impl Handler {
    FromFn(|_| Response::new(Body::full("ok")))
}

/// A handler that replies when it is notified.
pub struct BlockedHandler(pub Arc<Notify>);

impl Handler for BlockedHandler {
    fn handle(&self, _: Request) -> BoxFuture<'_, Response> {
        Box::pin(async {
            self.0.notified().await;
            Response::new(Body::empty())
        })
    }
}

/// The status code and the body of a response.
pub async fn seen(response: Response) -> (u16, String) {
    let code = response.status().as_u16();
    let bytes = response.into_body().read(1 << 20).await.unwrap();
    (code, String::from_utf8(bytes.to_vec()).unwrap())
}

/// The status code and the message of a failure.
pub async fn failure(response: Response) -> (u16, String) {
    let (code, text) = seen(response).await;
    let status: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    (code, status["message"].as_str().unwrap_or(&text).to_owned())
}
