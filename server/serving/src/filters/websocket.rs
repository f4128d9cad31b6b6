//! Carries the bodies of answers that change protocols to their clients, as messages of WebSockets.

use http::StatusCode;
use hyper::upgrade::OnUpgrade;

use crate::handler::{BoxFuture, Handler, Request, Response};
use crate::shutdown::Shutdown;
use crate::websocket::{self, Messages};

/// Sends the body of an answer that says [`Messages`] through the WebSocket that the connection becomes.
///
/// The other filters stand within: to them a watch through a WebSocket is a body as that of any watch, so that seats,
/// metrics, records and the end of watches at shutdown are the same.
pub struct WithWebSockets<H> {
    inner: H,
    shutdown: Shutdown,
}

impl<H> WithWebSockets<H> {
    /// `shutdown` counts WebSockets as under way: their clients hear of the end.
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
            let messages = response.extensions_mut().remove::<Messages>();
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
