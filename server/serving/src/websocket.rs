//! WebSockets: handshakes (upstream: `wsstream`, `golang.org/x/net/websocket`), and watches through
//! them (`HandleWS`).

mod sending;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{
    CONNECTION, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use request::upgrade::wants_websocket;
use request::{Body, Response};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

pub(crate) use sending::send;

/// The constant that a server appends to the client's key (RFC 6455, 1.3).
const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const VERSION: &str = "13";

/// A WebSocket on an upgraded HTTP connection.
pub type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Marks a 101 response with a body that is sent as messages of this kind, one per frame; in its
/// extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebSocketMessages {
    Text,
    Binary,
}

/// The subprotocols that a client offers in order of preference; empty if the request is not a
/// WebSocket upgrade.
pub fn protocols(headers: &HeaderMap) -> Vec<&str> {
    if !wants_websocket(headers) {
        return Vec::new();
    }
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|text| text.split(',')).map(str::trim).filter(|protocol| !protocol.is_empty()).collect()
}

/// The response to a WebSocket handshake: 101 with this subprotocol, or an error.
pub fn handshake(request_headers: &HeaderMap, protocol: &str) -> Response {
    let Some(key) = text(request_headers.get(SEC_WEBSOCKET_KEY)).filter(|key| !key.is_empty()) else {
        return refusal(StatusCode::BAD_REQUEST, "mismatch challenge/response");
    };
    if request_headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != VERSION) {
        let mut refusal = refusal(StatusCode::BAD_REQUEST, "missing or bad WebSocket Version");
        refusal.headers_mut().insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
        return refusal;
    }
    let shown = BASE64_STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{MAGIC}").as_bytes()));
    let mut answer = Response::default();
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.extend(HeaderValue::from_str(&shown).map(|value| (SEC_WEBSOCKET_ACCEPT, value)));
    if !protocol.is_empty() {
        headers.extend(HeaderValue::from_str(protocol).map(|value| (SEC_WEBSOCKET_PROTOCOL, value)));
    }
    answer
}

/// The response to a watch through a WebSocket; the frames of the body become messages.
///
/// The client sends its origin and at most one subprotocol, which may be any (upstream:
/// `websocket.Handler`).
pub fn accept(request_headers: &HeaderMap, messages: WebSocketMessages, body: Body) -> Response {
    // As Go's `Header.Get`, which returns the first of several values.
    let protocol = text(request_headers.get(SEC_WEBSOCKET_PROTOCOL)).unwrap_or_default().trim();
    let answer = handshake(request_headers, protocol);
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        return answer;
    }
    if !text(request_headers.get(ORIGIN)).is_some_and(is_origin) {
        return refusal(StatusCode::FORBIDDEN, "");
    }
    if protocol.contains(',') {
        return refusal(StatusCode::BAD_REQUEST, "");
    }
    let mut answer = answer.map(|_| body);
    answer.extensions_mut().insert(messages);
    answer
}

/// An error response that closes the connection, as Go's handshake writes it: without a media type.
fn refusal(code: StatusCode, why: &'static str) -> Response {
    let mut refusal = Response::new(Body::from(why));
    *refusal.status_mut() = code;
    refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    refusal
}

/// Whether Go's `url.ParseRequestURI` accepts it: a path, or a URL with a scheme.
fn is_origin(origin: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    origin.starts_with('/') || origin.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme))
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value.and_then(|value| value.to_str().ok())
}

/// Returns the WebSocket, once the response has been sent.
///
/// # Errors
/// The client disconnected.
pub async fn open(client_side: OnUpgrade, config: WebSocketConfig) -> Result<Socket, hyper::Error> {
    let io = TokioIo::new(client_side.await?);
    Ok(WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await)
}

/// The close message of a normal closure.
pub fn normal_closure() -> Message {
    closing(CloseCode::Normal)
}

fn closing(code: CloseCode) -> Message {
    Message::Close(Some(CloseFrame { code, reason: "".into() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headers of a valid handshake, with replacements. An empty value removes the header.
    fn request_headers(others: &[(http::HeaderName, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let right = [
            (UPGRADE, "websocket"),
            (CONNECTION, "keep-alive, Upgrade"),
            (SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ=="),
            (SEC_WEBSOCKET_VERSION, "13"),
            (ORIGIN, "http://x"),
        ];
        for (name, value) in right.iter().chain(others) {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let unsent = others.iter().filter(|(_, value)| value.is_empty());
        unsent.for_each(|(name, _)| drop(headers.remove(name)));
        headers
    }

    async fn answer(others: &[(http::HeaderName, &'static str)]) -> (u16, String, String) {
        let answer = accept(&request_headers(others), WebSocketMessages::Text, Body::empty());
        let header = |name| text(answer.headers().get(name)).unwrap_or_default().to_owned();
        let (accepted, chosen) = (header(SEC_WEBSOCKET_ACCEPT), header(SEC_WEBSOCKET_PROTOCOL));
        let code = answer.status().as_u16();
        assert_eq!(answer.extensions().get::<WebSocketMessages>().is_some(), code == 101);
        match code {
            101 => (code, accepted, chosen),
            _ => {
                assert_eq!(header(CONNECTION), "close");
                let body = answer.into_body().read(100).await.unwrap();
                (code, String::from_utf8_lossy(&body).into_owned(), String::new())
            }
        }
    }

    /// The responses of kube-apiserver 1.36.2.
    #[tokio::test]
    async fn validates_handshakes() {
        let check = async |others: &[(http::HeaderName, &'static str)], code, body: &str, chosen: &str| {
            assert_eq!(answer(others).await, (code, body.to_owned(), chosen.to_owned()), "{others:?}");
        };
        let accepted = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
        check(&[], 101, accepted, "").await;
        check(&[(SEC_WEBSOCKET_PROTOCOL, " a ")], 101, accepted, "a").await;
        check(&[(SEC_WEBSOCKET_PROTOCOL, "a, b")], 400, "", "").await;
        for origin in ["http://x/y", "/path", "a+b:c"] {
            check(&[(ORIGIN, origin)], 101, accepted, "").await;
        }
        for origin in ["", "null", "x", "1:2"] {
            check(&[(ORIGIN, origin)], 403, "", "").await;
        }
        check(&[(SEC_WEBSOCKET_KEY, ""), (SEC_WEBSOCKET_VERSION, "")], 400, "mismatch challenge/response", "").await;
        for version in ["", "8", "13, 8"] {
            check(&[(SEC_WEBSOCKET_VERSION, version)], 400, "missing or bad WebSocket Version", "").await;
        }
    }
}
