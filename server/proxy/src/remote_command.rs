//! Translates WebSocket clients of exec and attach to SPDY kubelets (upstream:
//! `StreamTranslatorHandler`, KEP-4006).

mod outcome;

use bytes::Bytes;
use http::header::{CONNECTION, HeaderName, HeaderValue, LOCATION, UPGRADE};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use request::{Body, Request, Response};
use telemetry::metrics::StreamMetrics;
use tokio::sync::mpsc;
use webhook::Client;

use crate::error::Error;
use crate::spdy::{self, SpdyConnection, Stream, StreamWriter};
use crate::throttle::Throttled;
use crate::websocket::{self, ClientMessage, Incoming, Outgoing, Socket};
use crate::{Location, upgrade};
use outcome::ProcessOutcome;

pub(crate) const STREAM_PROTOCOL: HeaderName = HeaderName::from_static("x-stream-protocol-version");

/// The client protocol: the first one that can close a single stream.
const CLIENT_PROTOCOL: &str = "v5.channel.k8s.io";
/// Protocols offered to kubelets, in order of preference.
const KUBELET_PROTOCOLS: [&str; 5] =
    [CLIENT_PROTOCOL, "v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"];

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const ERROR: u8 = 3;
const RESIZE: u8 = 4;

/// Maximum size in bytes of an outcome or of an error response.
const MAX_OUTCOME: usize = 1 << 20;

/// The streams that a client requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    pub stdin: bool,
    pub stdout: bool,
    pub stderr: bool,
    /// Whether the process has a terminal. A terminal has no standard error.
    pub tty: bool,
}

/// Whether a client requests the translated protocol (`IsWebSocketRequestWithStreamCloseProtocol`).
pub fn is_wanted(headers: &HeaderMap) -> bool {
    websocket::protocols(headers).contains(&CLIENT_PROTOCOL)
}

/// Upgrades the client's connection to a WebSocket, and relays its channels to streams of a
/// kubelet. Later errors are sent on the WebSocket.
pub fn translate(
    client: Client,
    location: Location,
    streams: Streams,
    request: Request,
    metrics: StreamMetrics,
) -> Response {
    let answer = websocket::handshake(request.headers(), CLIENT_PROTOCOL);
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        metrics.translated(StatusCode::BAD_REQUEST);
        return answer;
    }
    let (_, client_side) = upgrade::split(request);
    tokio::spawn(async move {
        match websocket::open(client_side).await {
            Ok(socket) => metrics.translated(serve(&client, &location, streams, socket).await),
            Err(error) => tracing::debug!(%error, "the client disconnected before its WebSocket was opened"),
        }
    });
    answer
}

/// Relays the channels until the process ends. Returns the status code for metrics.
async fn serve(client: &Client, location: &Location, streams: Streams, socket: Socket) -> StatusCode {
    let (incoming, outgoing, sending) = websocket::split(socket);
    // An empty message signals to the client that it is connected.
    let first = match streams {
        Streams { stdout: true, .. } => STDOUT,
        Streams { stderr: true, .. } => STDERR,
        _ => ERROR,
    };
    outgoing.send(first, &[]).await;
    let outcome = match dial(client, location).await {
        Ok((connection, protocol)) => run(connection, &protocol, streams, incoming, &outgoing).await,
        Err(error) => Some(ProcessOutcome::Failed(error.to_string())),
    };
    if let Some(outcome) = &outcome {
        outgoing.send(ERROR, outcome.to_json().to_string().as_bytes()).await;
    }
    drop(outgoing);
    if let Err(error) = sending.await {
        tracing::debug!(%error, "cannot close a WebSocket");
    }
    match outcome {
        Some(ProcessOutcome::Success | ProcessOutcome::Exit(_)) => StatusCode::OK,
        Some(ProcessOutcome::Failed(_)) | None => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Requests SPDY from a kubelet. Returns the connection and the negotiated protocol.
async fn dial(client: &Client, location: &Location) -> Result<(SpdyConnection, String), Error> {
    let mut request = http::Request::new(Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = location.uri()?;
    let headers = request.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static(spdy::PROTOCOL));
    for protocol in KUBELET_PROTOCOLS {
        headers.append(STREAM_PROTOCOL, HeaderValue::from_static(protocol));
    }
    let mut response = client.send(request).await.map_err(Error::Send)?;
    if let (true, Some(to)) = (response.status().is_redirection(), text(response.headers(), &LOCATION)) {
        return Err(Error::Redirect { to: to.to_owned() });
    }
    if !is_spdy(&response) {
        return Err(upgrade_error(response).await);
    }
    let protocol = text(response.headers(), &STREAM_PROTOCOL).unwrap_or_default().to_owned();
    let io = hyper::upgrade::on(&mut response).await.map_err(Error::Upgrade)?;
    let connection = SpdyConnection::start(Throttled::new(TokioIo::new(io), location.bytes_per_second))?;
    Ok((connection, protocol))
}

/// Whether a response upgrades the connection to SPDY.
pub(crate) fn is_spdy<B>(response: &http::Response<B>) -> bool {
    let contains = |name: &HeaderName, what: &str| {
        text(response.headers(), name).is_some_and(|value| value.to_ascii_lowercase().contains(what))
    };
    response.status() == StatusCode::SWITCHING_PROTOCOLS
        && contains(&CONNECTION, "upgrade")
        && contains(&UPGRADE, "spdy/3.1")
}

/// Returns the error of a kubelet that rejects SPDY (`upgradeErrorMessage`).
async fn upgrade_error(response: http::Response<hyper::body::Incoming>) -> Error {
    let Ok(body) = Body::from(response.into_body()).read(MAX_OUTCOME).await else {
        return Error::UnreadableRefusal;
    };
    let status: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let texts = ["message", "error"].map(|name| status[name].as_str().unwrap_or_default().trim());
    let plain = String::from_utf8_lossy(&body);
    let text = texts.into_iter().chain([plain.trim(), "empty server response"]).find(|text| !text.is_empty());
    Error::NoSpdy { why: text.unwrap_or_default().to_owned() }
}

/// Relays streams until the process ends. Returns `None` if the client disconnects first.
async fn run(
    mut connection: SpdyConnection,
    protocol: &str,
    streams: Streams,
    incoming: Incoming,
    outgoing: &Outgoing,
) -> Option<ProcessOutcome> {
    let opened = match Opened::open(&mut connection, streams, protocol).await {
        Ok(opened) => opened,
        Err(why) => return Some(ProcessOutcome::Failed(why.to_string())),
    };
    let input = relay_input(incoming, opened.stdin, opened.resize);
    let output = async {
        tokio::join!(relay_output(opened.stdout, outgoing, STDOUT), relay_output(opened.stderr, outgoing, STDERR));
        ProcessOutcome::read(&collect(opened.error).await, protocol)
    };
    let outcome = tokio::select! {
        outcome = output => Some(outcome),
        () = input => None,
    };
    connection.close().await;
    outcome
}

/// The streams of a process. One-way streams keep only the half in use.
struct Opened {
    error: mpsc::Receiver<Bytes>,
    stdin: Option<StreamWriter>,
    stdout: Option<mpsc::Receiver<Bytes>>,
    stderr: Option<mpsc::Receiver<Bytes>>,
    resize: Option<StreamWriter>,
}

impl Opened {
    /// Opens all streams before any data: a kubelet reads none before all are open.
    async fn open(connection: &mut SpdyConnection, wanted: Streams, protocol: &str) -> Result<Self, spdy::SpdyError> {
        let mut open = async |name: &str, wanted: bool| -> Result<Option<Stream>, spdy::SpdyError> {
            if wanted { connection.open(name).await.map(Some) } else { Ok(None) }
        };
        let resizes = !KUBELET_PROTOCOLS[3..].contains(&protocol) && !protocol.is_empty();
        let error = open("error", true).await?;
        let stdin = open("stdin", wanted.stdin).await?;
        let stdout = open("stdout", wanted.stdout).await?;
        let stderr = open("stderr", wanted.stderr && !wanted.tty).await?;
        let resize = open("resize", wanted.tty && resizes).await?;
        Ok(Opened {
            error: error.ok_or(spdy::SpdyError::Closed)?.received,
            stdin: stdin.map(|stream| stream.writer),
            stdout: stdout.map(|stream| stream.received),
            stderr: stderr.map(|stream| stream.received),
            resize: resize.map(|stream| stream.writer),
        })
    }
}

/// Relays input of the client until it disconnects. Input for closed streams is dropped.
async fn relay_input(mut incoming: Incoming, mut stdin: Option<StreamWriter>, resize: Option<StreamWriter>) {
    while let Some(message) = incoming.next().await {
        let sent = match (message, &stdin, &resize) {
            (ClientMessage::Bytes(STDIN, bytes), Some(stdin), _) => stdin.write(&bytes).await,
            (ClientMessage::Bytes(RESIZE, bytes), _, Some(resize)) => resize.write(&bytes).await,
            (ClientMessage::End(STDIN), Some(_), _) => match stdin.take() {
                Some(stdin) => stdin.finish().await,
                None => Ok(()),
            },
            _ => Ok(()),
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "cannot write to a stream of a kubelet");
        }
    }
}

/// Relays output of a process.
async fn relay_output(from: Option<mpsc::Receiver<Bytes>>, to: &Outgoing, channel: u8) {
    let Some(mut from) = from else { return };
    while let Some(bytes) = from.recv().await {
        to.send(channel, &bytes).await;
    }
}

/// Reads a stream to its end, truncated to `MAX_OUTCOME`.
async fn collect(mut from: mpsc::Receiver<Bytes>) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(bytes) = from.recv().await {
        all.extend_from_slice(&bytes[..bytes.len().min(MAX_OUTCOME - all.len())]);
    }
    all
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
