//! WebSockets of clients with multiplexed channels (upstream: `wsstream`).

mod channels;

use http::header::{
    HeaderName, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
};
use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

pub(crate) use channels::{ClientMessage, Incoming, Outgoing, split};
pub(crate) use serving::websocket::{Socket, handshake, normal_closure, protocols};

/// Maximum size in bytes of a client's message (Go: `DefaultMaxPayloadBytes`).
const MAX_MESSAGE: usize = 32 << 20;

/// Headers of the WebSocket handshake, which other protocols do not use.
pub(crate) const HANDSHAKE_HEADERS: [HeaderName; 4] =
    [SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, SEC_WEBSOCKET_EXTENSIONS];

/// Opens the WebSocket after the response is sent.
///
/// # Errors
/// Returns an error if the client has disconnected.
pub(crate) async fn open(client_side: OnUpgrade) -> Result<Socket, hyper::Error> {
    let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    serving::websocket::open(client_side, config).await
}
