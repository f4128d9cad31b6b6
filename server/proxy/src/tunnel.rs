//! SPDY through a WebSocket: ports of pods, for clients on whose way something knows no SPDY (upstream: `TunnelingHandler`, KEP-4006).

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::header::{HeaderName, HeaderValue, UPGRADE};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use machinery::status::Status;
use serving::metrics::StreamMetrics;
use serving::{Body, Request, Response, respond};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use webhook::Client;

use crate::forward::{outgoing, refused};
use crate::remote_command::{STREAM_PROTOCOL, speaks_spdy};
use crate::throttle::Throttled;
use crate::upgrade::{self, UpgradeError};
use crate::websocket::{self, OF_HANDSHAKE, Socket, goodbye};
use crate::{Location, headers, spdy};

/// What stands before the protocol that is spoken in SPDY.
const PREFIX: &str = "SPDY/3.1+";
const SUFFIX: &str = ".k8s.io";
/// How much is carried in a message.
const PIECE: usize = 32 << 10;

/// Whether a client asks for a tunnel (`IsWebSocketRequestWithTunnelingProtocol`).
pub fn is_wanted(headers: &HeaderMap) -> bool {
    !protocols(headers).is_empty()
}

fn protocols(headers: &HeaderMap) -> Vec<&str> {
    let said = websocket::protocols(headers).into_iter();
    said.filter_map(|protocol| protocol.strip_prefix(PREFIX)).filter(|inner| inner.ends_with(SUFFIX)).collect()
}

/// Asks a kubelet to go on in SPDY, and carries what is said there in messages of the client's WebSocket.
///
/// # Errors
/// When the kubelet does not answer, or not as it may.
pub async fn tunnel(
    client: &Client,
    location: &Location,
    request: Request,
    metrics: &StreamMetrics,
) -> Result<Response, Status> {
    let asked = request.headers().clone();
    let (request, client_side) = upgrade::split(request);
    let mut out = outgoing(request, location, true)?;
    let said = out.headers_mut();
    OF_HANDSHAKE.iter().chain([&STREAM_PROTOCOL]).for_each(|name: &HeaderName| drop(said.remove(name)));
    said.insert(UPGRADE, HeaderValue::from_static(spdy::PROTOCOL));
    for protocol in protocols(&asked) {
        said.extend(HeaderValue::from_str(protocol).map(|value| (STREAM_PROTOCOL, value)));
    }
    *out.method_mut() = Method::POST;
    *out.body_mut() = Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync();
    let mut response = client.send(out).await.map_err(|why| refused(UpgradeError::Unreachable(why)))?;
    match response.status().as_u16() {
        101 if speaks_spdy(&response) => {
            let chosen = response.headers().get(&STREAM_PROTOCOL).and_then(|value| value.to_str().ok());
            let chosen = chosen.map(|protocol| format!("{PREFIX}{}", protocol.trim())).unwrap_or_default();
            let answer = websocket::handshake(&asked, &chosen);
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
        code if code < 400 => Err(refused(UpgradeError::Refused(code))),
        _ => {
            metrics.tunnelled(response.status());
            headers::clean_answer(response.headers_mut());
            Ok(upgrade::closing(response.map(Body::from)))
        }
    }
}

/// Carries bytes both ways until one side ends; then both have.
async fn join(client_side: OnUpgrade, kubelet_side: OnUpgrade, bytes_per_second: Option<u64>) {
    match tokio::try_join!(websocket::open(client_side), kubelet_side) {
        Ok((client, kubelet)) => carry(client, Throttled::new(TokioIo::new(kubelet), bytes_per_second)).await,
        Err(error) => tracing::debug!(%error, "a connection did not change protocols"),
    }
}

async fn carry(client: Socket, kubelet: Throttled<TokioIo<Upgraded>>) {
    let (mut to_client, mut from_client) = client.split();
    let (mut from_kubelet, mut to_kubelet) = tokio::io::split(kubelet);
    let outward = async {
        let mut piece = vec![0; PIECE];
        while let Ok(length @ 1..) = from_kubelet.read(&mut piece).await {
            if to_client.send(Message::Binary(Bytes::copy_from_slice(&piece[..length]))).await.is_err() {
                return;
            }
        }
        let _ = to_client.send(goodbye()).await;
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
