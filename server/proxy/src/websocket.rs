//! WebSockets of clients that are carried to kubelets: several channels in one (upstream: `wsstream`).

mod channels;

use http::header::{
    HeaderName, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
};
use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

pub(crate) use channels::{Incoming, Outgoing, Said, split};
pub(crate) use serving::websocket::{Socket, goodbye, handshake, protocols};

/// The longest message of a client (Go: `DefaultMaxPayloadBytes`).
const MAX_MESSAGE: usize = 32 << 20;

/// Headers of the handshake, which mean nothing to who speaks another protocol.
pub(crate) const OF_HANDSHAKE: [HeaderName; 4] =
    [SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, SEC_WEBSOCKET_EXTENSIONS];

/// The WebSocket, once the answer has been sent.
///
/// # Errors
/// When the client has gone.
pub(crate) async fn open(client_side: OnUpgrade) -> Result<Socket, hyper::Error> {
    let config = WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE));
    serving::websocket::open(client_side, config).await
}
