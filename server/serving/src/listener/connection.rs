//! Serves one connection from its handshake to its end.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::Poll;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use options::ServingOptions;
use prometheus::IntCounter;
use request::{BoxFuture, Handler, Peer};
use telemetry::metrics::Metrics;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

use super::activity::{Activity, InFlight};
use super::client_certificates::{Authorities, CurrentAuthorities, PresentedCertificate, system_clock};
use super::coalesce::coalesce;
use super::drain_on_drop::UnreadBody;
use super::limits::{ConnectionLimits, STREAM_WINDOW, connection_window, raise_open_files};
use super::peer::PeerConnection;
use super::plaintext;
use super::streams::{StreamExecutor, WatchResponse, migrate_to_connection};
use super::table::{ConnectionSlot, Table};
use super::tls::TlsConfig;
use crate::shutdown::{Phase, Shutdown};
use crate::work::memory;

/// The timeout of a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of the head of an HTTP/1.1 request, from the end of the previous response (upstream:
/// `ReadHeaderTimeout`).
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// The maximum size of a frame that a client may send.
const MAX_FRAME: u32 = 256 * 1024;
/// The maximum size of all headers of a request (Go: `DefaultMaxHeaderBytes`).
const MAX_HEADERS: u32 = 1 << 20;
/// The interval of pings on an idle HTTP/2 connection, and the timeout of their acknowledgement.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// The maximum number of streams that a client may reset before they are accepted (CVE-2023-44487).
const MAX_RESET_STREAMS: usize = 100;

/// How long a connection that is shutting down stays open without requests, until its client closes
/// it.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(30);

/// The state that all connections share.
pub(super) struct Connections {
    table: Arc<Table>,
    max_age: Option<Duration>,
    tls_config: RwLock<Arc<TlsConfig>>,
    authorities: Arc<CurrentAuthorities>,
    /// The maximum number of concurrent streams of an HTTP/2 connection.
    max_streams: u32,
    /// The flow control window of such a connection: bytes of all streams that are sent but not
    /// read.
    window: u32,
    tls_errors: IntCounter,
}

impl Connections {
    pub(super) fn new(
        (tls_config, authorities): (TlsConfig, Authorities),
        options: &ServingOptions,
        metrics: &Metrics,
    ) -> Self {
        let limits = ConnectionLimits::new(&options.connections, raise_open_files());
        tracing::debug!(?limits, "connection limits");
        let window = connection_window(memory::limit(), limits.total, options.http2_max_streams);
        Connections {
            window,
            table: Arc::new(Table::new(limits, metrics.connections.clone())),
            max_age: options.connections.max_age,
            tls_config: RwLock::new(Arc::new(tls_config)),
            authorities: Arc::new(CurrentAuthorities::new(authorities, system_clock())),
            max_streams: options.http2_max_streams,
            tls_errors: metrics.tls_errors.clone(),
        }
    }

    /// Uses this TLS configuration for new handshakes, and these CAs for client certificates.
    ///
    /// Open connections continue; the new CAs apply to their next requests.
    pub(super) fn set_tls_config(&self, (tls_config, authorities): (TlsConfig, Authorities)) {
        self.authorities.replace(authorities);
        *self.tls_config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tls_config);
    }

    /// Evicts an idle connection after an accept failed because the process cannot open more files.
    pub(super) fn make_room(&self) {
        self.table.evict_for_files();
    }

    /// Serves a connection to its end, unless a limit is exceeded.
    pub(super) async fn serve(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        handler: Arc<dyn Handler>,
        shutdown: Shutdown,
    ) {
        let activity = Arc::new(Activity::default());
        let Ok(slot) = self.table.admit(address.ip(), &activity) else { return };
        let stream = tokio::select! {
            biased;
            () = slot.evicted() => return,
            stream = timeout(HANDSHAKE_TIMEOUT, self.handshake(stream, address)) => stream,
        };
        let Ok(Some(stream)) = stream else { return self.tls_errors.inc() };
        slot.set_connected();
        let certificate = PresentedCertificate::new(stream.get_ref().1.peer_certificates(), &self.authorities);
        let connection = PeerConnection { certificate, slot: Some(slot.clone()), ..PeerConnection::default() };
        self.serve_http(stream, address, Arc::new(connection), activity, handler, shutdown).await;
        slot.set_upgraded();
    }

    async fn handshake(&self, mut stream: TcpStream, address: SocketAddr) -> Option<TlsStream<TcpStream>> {
        // Responses are written in one piece; Nagle's algorithm would only add delay.
        let _ = stream.set_nodelay(true);
        let tls_config = self.tls_config.read().unwrap_or_else(PoisonError::into_inner).clone();
        if !plaintext::speaks_tls(&mut stream).await {
            return None;
        }
        let stream = tls_config.acceptor.accept(stream).await;
        stream.inspect_err(|error| tracing::debug!(%address, %error, "TLS handshake error")).ok()
    }

    async fn serve_http(
        &self,
        stream: TlsStream<TcpStream>,
        address: SocketAddr,
        peer: Arc<PeerConnection>,
        activity: Arc<Activity>,
        handler: Arc<dyn Handler>,
        shutdown: Shutdown,
    ) {
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let (streams, mut local_streams) = StreamExecutor::new();
        let builder = if is_http2 { http2(streams, self.max_streams, self.window) } else { http1(streams) };
        let service = {
            let (peer, activity) = (Arc::new(Peer::new(address, peer.clone())), Arc::clone(&activity));
            service_fn(move |request| handle(request, Arc::clone(&peer), Arc::clone(&handler), activity.begin()))
        };
        let (stream, mut scheduler) = coalesce(stream, is_http2);
        if let Some(slot) = &peer.slot {
            scheduler.hold(slot.clone());
        }
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let mut ends = reasons_to_end(&shutdown, &peer, &activity, self.max_age);
        loop {
            let end = tokio::select! {
                biased;
                ended = poll_fn(|context| {
                    // The connection writes the frames of the streams, so it is polled after them.
                    local_streams.poll(context);
                    let polled = connection.as_mut().poll(context).map_err(|error| error.to_string());
                    match scheduler.flush(context, activity.in_flight() > local_streams.len()) {
                        Err(error) if polled.is_pending() => Poll::Ready(Err(error.to_string())),
                        _ => polled,
                    }
                }) => {
                    if let Err(error) = ended {
                        tracing::debug!(%address, error, "connection ended");
                    }
                    return;
                }
                end = ends.next() => end,
            };
            match end {
                Some(End::Gracefully) => {
                    connection.as_mut().graceful_shutdown();
                    ends.clear();
                    ends.push(Box::pin(unused(activity.clone())));
                    ends.extend(peer.slot.clone().map(evicted));
                }
                Some(End::AtOnce) | None => return,
            }
        }
    }
}

/// How to end a connection.
enum End {
    /// When its requests in flight are complete.
    Gracefully,
    AtOnce,
}

type Ends = FuturesUnordered<BoxFuture<'static, End>>;

/// The conditions that end a connection.
///
/// They are combined in one stream, because a connection is polled often and rarely for one of
/// them.
fn reasons_to_end(
    shutdown: &Shutdown,
    peer: &Arc<PeerConnection>,
    activity: &Arc<Activity>,
    max_age: Option<Duration>,
) -> Ends {
    let (shutdown, closed, idle, activity) = (shutdown.clone(), peer.clone(), peer.clone(), activity.clone());
    let ends: [BoxFuture<'static, ()>; 3] = [
        Box::pin(async move { shutdown.reached(Phase::Draining).await }),
        Box::pin(async move { closed.close.notified().await }),
        Box::pin(async move { activity.ceased(|| idle.is_authenticated()).await }),
    ];
    let old = max_age.map(|age| -> BoxFuture<'static, ()> { Box::pin(tokio::time::sleep(jittered(age))) });
    let graceful = ends.into_iter().chain(old);
    let graceful = graceful.map(|end| -> BoxFuture<'static, End> { Box::pin(end.map(|()| End::Gracefully)) });
    graceful.chain(peer.slot.clone().map(evicted)).collect()
}

/// Varies an age by a tenth, so that connections opened together do not end together (gRPC:
/// `MAX_CONNECTION_AGE`).
fn jittered(age: Duration) -> Duration {
    age.mul_f64(rand::random_range(0.9..=1.1))
}

fn evicted(slot: Arc<ConnectionSlot>) -> BoxFuture<'static, End> {
    Box::pin(async move {
        slot.evicted().await;
        End::AtOnce
    })
}

/// Waits until a connection that is shutting down has no requests and its client has had time to
/// close it.
async fn unused(activity: Arc<Activity>) -> End {
    loop {
        tokio::time::sleep(CLOSE_TIMEOUT).await;
        if activity.in_flight() == 0 {
            return End::AtOnce;
        }
    }
}

fn http1(streams: StreamExecutor) -> Builder<StreamExecutor> {
    let mut builder = Builder::new(streams).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADERS as usize)
        .pipeline_flush(true);
    builder
}

fn http2(streams: StreamExecutor, max_streams: u32, window: u32) -> Builder<StreamExecutor> {
    let mut builder = Builder::new(streams).http2_only();
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(max_streams)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(window)
        .max_frame_size(MAX_FRAME)
        .max_header_list_size(MAX_HEADERS)
        .max_pending_accept_reset_streams(MAX_RESET_STREAMS)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

async fn handle(
    request: hyper::Request<Incoming>,
    peer: Arc<Peer>,
    handler: Arc<dyn Handler>,
    in_flight: InFlight,
) -> Result<request::Response, Infallible> {
    let (mut request, unread) = UnreadBody::of(request);
    request.extensions_mut().insert(peer);
    let response = handler.handle(request).await;
    if response.extensions().get::<WatchResponse>().is_some() {
        migrate_to_connection();
    }
    if let Some(unread) = unread {
        // A slow client has to finish its body within this timeout.
        let _ = timeout(HANDSHAKE_TIMEOUT, unread.drain()).await;
    }
    Ok(response.map(|body| body.hold(in_flight)))
}
