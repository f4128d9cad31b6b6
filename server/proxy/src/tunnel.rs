//! SPDY tunnelled through a WebSocket, for port forwarding through intermediaries that do not
//! support SPDY (upstream: `TunnelingHandler`, KEP-4006).

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::header::{HeaderName, HeaderValue, UPGRADE};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use machinery::status::Status;
use request::{Body, Request, Response, respond};
use telemetry::metrics::StreamMetrics;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use webhook::Client;

use crate::error::Error;
use crate::forward::{outgoing, refused};
use crate::remote_command::{STREAM_PROTOCOL, is_spdy};
use crate::throttle::Throttled;
use crate::upgrade;
use crate::websocket::{self, HANDSHAKE_HEADERS, Socket, normal_closure};
use crate::{Location, headers, spdy};

/// The prefix of the tunnelled protocol.
const PREFIX: &str = "SPDY/3.1+";
const SUFFIX: &str = ".k8s.io";
/// Maximum bytes per message.
const PIECE: usize = 32 << 10;

/// Whether a client requests a tunnel (`IsWebSocketRequestWithTunnelingProtocol`).
pub fn is_wanted(headers: &HeaderMap) -> bool {
    !protocols(headers).is_empty()
}

fn protocols(headers: &HeaderMap) -> Vec<&str> {
    let offered = websocket::protocols(headers).into_iter();
    offered.filter_map(|protocol| protocol.strip_prefix(PREFIX)).filter(|inner| inner.ends_with(SUFFIX)).collect()
}

/// Requests SPDY from a kubelet, and relays its bytes in messages of the client's WebSocket.
///
/// # Errors
/// Returns an error if the kubelet is unreachable or its response is invalid.
pub async fn tunnel(
    client: &Client,
    location: &Location,
    request: Request,
    metrics: &StreamMetrics,
) -> Result<Response, Status> {
    let client_headers = request.headers().clone();
    let (request, client_side) = upgrade::split(request);
    let mut out = outgoing(request, location, true)?;
    let headers = out.headers_mut();
    HANDSHAKE_HEADERS.iter().chain([&STREAM_PROTOCOL]).for_each(|name: &HeaderName| drop(headers.remove(name)));
    headers.insert(UPGRADE, HeaderValue::from_static(spdy::PROTOCOL));
    for protocol in protocols(&client_headers) {
        headers.extend(HeaderValue::from_str(protocol).map(|value| (STREAM_PROTOCOL, value)));
    }
    *out.method_mut() = Method::POST;
    *out.body_mut() = Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync();
    let mut response = client.send(out).await.map_err(|why| refused(Error::Unreachable(why)))?;
    match response.status().as_u16() {
        101 if is_spdy(&response) => {
            let chosen = response.headers().get(&STREAM_PROTOCOL).and_then(|value| value.to_str().ok());
            let chosen = chosen.map(|protocol| format!("{PREFIX}{}", protocol.trim())).unwrap_or_default();
            let answer = websocket::handshake(&client_headers, &chosen);
            let switches = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
            metrics.tunnelled(if switches { answer.status() } else { StatusCode::INTERNAL_SERVER_ERROR });
            if switches {
                tokio::spawn(join(client_side, hyper::upgrade::on(&mut response), location.bytes_per_second));
            }
            Ok(answer)
        }
        101 => {
            metrics.tunnelled(StatusCode::INTERNAL_SERVER_ERROR);
            Ok(respond::text_error(500, "unable to upgrade: missing upgrade headers in response"))
        }
        code if code < 400 => Err(refused(Error::Refused(code))),
        _ => {
            metrics.tunnelled(response.status());
            headers::clean_response(response.headers_mut());
            Ok(upgrade::closing(response.map(Body::from)))
        }
    }
}

/// Relays bytes in both directions until one side closes; then closes both.
async fn join(client_side: OnUpgrade, kubelet_side: OnUpgrade, bytes_per_second: Option<u64>) {
    match tokio::try_join!(websocket::open(client_side), kubelet_side) {
        Ok((client, kubelet)) => relay(client, Throttled::new(TokioIo::new(kubelet), bytes_per_second)).await,
        Err(error) => tracing::debug!(%error, "cannot upgrade a connection"),
    }
}

async fn relay(client: Socket, kubelet: Throttled<TokioIo<Upgraded>>) {
    let (mut to_client, mut from_client) = client.split();
    let (mut from_kubelet, mut to_kubelet) = tokio::io::split(kubelet);
    let outward = async {
        let mut piece = vec![0; PIECE];
        while let Ok(length @ 1..) = from_kubelet.read(&mut piece).await {
            if to_client.send(Message::Binary(Bytes::copy_from_slice(&piece[..length]))).await.is_err() {
                return;
            }
        }
        let _ = to_client.send(normal_closure()).await;
    };
    let inward = async {
        while let Some(Ok(message)) = from_client.next().await {
            let Message::Binary(bytes) = message else {
                if message.is_ping() || message.is_pong() { continue } else { return }
            };
            if to_kubelet.write_all(&bytes).await.is_err() || to_kubelet.flush().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = outward => {}
        () = inward => {}
    }
}
