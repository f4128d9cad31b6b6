//! WebSockets of clients: how one begins, and several channels in one (upstream: `wsstream`).

mod channels;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serving::{Response, respond};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::{headers, upgrade};

pub(crate) use channels::{Incoming, Outgoing, Said, goodbye, split};

/// What a server adds to a client's key to show that it knows the protocol (RFC 6455, 1.3).
const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const VERSION: &str = "13";
/// The longest message of a client (Go: `DefaultMaxPayloadBytes`).
const MAX_MESSAGE: usize = 32 << 20;

/// A WebSocket on a connection that was HTTP's.
pub(crate) type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// The protocols that a client wants to speak through a WebSocket, best first; none when it wants no WebSocket.
pub(crate) fn protocols(headers: &HeaderMap) -> Vec<&str> {
    let wants_socket = headers.get(UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket"));
    if !(wants_socket && upgrade::is_wanted(headers)) {
        return Vec::new();
    }
    let said = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    said.flat_map(|text| text.split(',')).map(str::trim).filter(|protocol| !protocol.is_empty()).collect()
}

/// The answer that makes a connection a WebSocket of a protocol, or, with any code but 101, says what is wrong with the request.
pub(crate) fn handshake(asked: &HeaderMap, protocol: &str) -> Response {
    if asked.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != VERSION) {
        let mut refusal = respond::text_error(400, "missing or bad WebSocket Version");
        headers::set(refusal.headers_mut(), SEC_WEBSOCKET_VERSION, VERSION);
        return refusal;
    }
    let Some(key) = asked.get(SEC_WEBSOCKET_KEY).and_then(|key| key.to_str().ok()) else {
        return respond::text_error(400, "mismatch challenge/response");
    };
    let shown = BASE64_STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{MAGIC}").as_bytes()));
    let mut answer = Response::default();
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let said = answer.headers_mut();
    said.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    said.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers::set(said, SEC_WEBSOCKET_ACCEPT, &shown);
    if !protocol.is_empty() {
        headers::set(said, SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    answer
}

/// Headers of the handshake, which mean nothing to who speaks another protocol.
pub(crate) const OF_HANDSHAKE: [HeaderName; 4] =
    [SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, http::header::SEC_WEBSOCKET_EXTENSIONS];

/// The WebSocket, once the answer has been sent.
///
/// # Errors
/// When the client has gone.
pub(crate) async fn open(client_side: OnUpgrade) -> Result<Socket, hyper::Error> {
    let mut config = WebSocketConfig::default();
    (config.max_message_size, config.max_frame_size) = (Some(MAX_MESSAGE), Some(MAX_MESSAGE));
    let io = TokioIo::new(client_side.await?);
    Ok(WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await)
}
