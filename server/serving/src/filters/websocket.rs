//! Sends the bodies of WebSocket responses as messages.

use http::StatusCode;
use hyper::upgrade::OnUpgrade;
use request::{BoxFuture, Handler, Request, Response};

use crate::shutdown::Shutdown;
use crate::websocket::{self, WebSocketMessages};

/// Sends the body of a response with the [`WebSocketMessages`] extension through the upgraded
/// connection.
///
/// This filter is outside of the other filters. They treat a watch through a WebSocket as any
/// watch, so seats, metrics, audit, and shutdown work the same way.
pub struct WithWebSockets<H> {
    inner: H,
    shutdown: Shutdown,
}

impl<H> WithWebSockets<H> {
    /// `shutdown` counts WebSockets as in flight, so that they are closed properly.
    pub fn new(inner: H, shutdown: Shutdown) -> Self {
        WithWebSockets { inner, shutdown }
    }
}

impl<H: Handler> Handler for WithWebSockets<H> {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let Some(client_side) = request.extensions().get::<OnUpgrade>().cloned() else {
            return self.inner.handle(request);
        };
        Box::pin(async move {
            let mut response = self.inner.handle(request).await;
            let messages = response.extensions_mut().remove::<WebSocketMessages>();
            if let Some(messages) = messages.filter(|_| response.status() == StatusCode::SWITCHING_PROTOCOLS) {
                let (body, under_way) = (std::mem::take(response.body_mut()), self.shutdown.enter());
                tokio::spawn(async move {
                    websocket::send(client_side, messages, body).await;
                    drop(under_way);
                });
            }
            response
        })
    }
}
