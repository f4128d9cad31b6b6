//! One connection: its handshake, its requests, its end.

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
use prometheus::IntCounter;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

use super::activity::{Activity, UnderWay};
use super::client_certificates::{Authorities, CurrentAuthorities, PresentedCertificate, system_clock};
use super::coalesce::gather;
use super::drain_on_drop::Leftover;
use super::limits::{Limits, STREAM_WINDOW, connection_window, raise_open_files};
use super::self_wake::SelfWakeTracker;
use super::streams::{Streams, Waits, settle};
use super::table::{Place, Table};
use super::tls::Terms;
use super::{Peer, plaintext, poll};
use crate::handler::{BoxFuture, Handler};
use crate::metrics::Metrics;
use crate::options::ServingOptions;
use crate::shutdown::{Phase, Shutdown};
use crate::work::memory;

/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the head of an HTTP/1.1 request may take, counted from the end of the answer before (upstream: `ReadHeaderTimeout`).
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// The longest frame a client may send.
const MAX_FRAME: u32 = 256 * 1024;
/// All headers of a request together (Go: `DefaultMaxHeaderBytes`).
const MAX_HEADERS: u32 = 1 << 20;
/// How often a silent HTTP/2 connection is asked whether it is still there, and how long it may take to say so.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// Streams of a connection that a client may take back before they were looked at (CVE-2023-44487).
const MAX_RESET_STREAMS: usize = 100;

/// For how long a connection that ends may go on without requests, until its client has closed it.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(30);

/// What all connections share.
pub(super) struct Connections {
    table: Arc<Table>,
    max_age: Option<Duration>,
    terms: RwLock<Arc<Terms>>,
    authorities: Arc<CurrentAuthorities>,
    /// Streams that an HTTP/2 connection may have at a time.
    max_streams: u32,
    /// Bytes of all streams of such a connection that were sent and not read.
    window: u32,
    tls_errors: IntCounter,
}

impl Connections {
    pub(super) fn new((terms, authorities): (Terms, Authorities), options: &ServingOptions, metrics: &Metrics) -> Self {
        let limits = Limits::new(&options.connections, raise_open_files());
        tracing::debug!(?limits, "limits of connections");
        let window = connection_window(memory::limit(), limits.total, options.http2_max_streams);
        Connections {
            window,
            table: Arc::new(Table::new(limits, metrics.connections.clone())),
            max_age: options.connections.max_age,
            terms: RwLock::new(Arc::new(terms)),
            authorities: Arc::new(CurrentAuthorities::new(authorities, system_clock())),
            max_streams: options.http2_max_streams,
            tls_errors: metrics.tls_errors.clone(),
        }
    }

    /// Makes handshakes with these terms, and judges client certificates by these authorities, from now on. Open
    /// connections go on; their next requests are judged by the new authorities.
    pub(super) fn set_terms(&self, (terms, authorities): (Terms, Authorities)) {
        self.authorities.replace(authorities);
        *self.terms.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(terms);
    }

    /// Makes room for a connection whose accept failed because the process cannot open more files.
    pub(super) fn make_room(&self) {
        self.table.evict_for_files();
    }

    /// Serves a connection to its end, unless there are too many.
    pub(super) async fn serve(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        handler: Arc<dyn Handler>,
        shutdown: Shutdown,
    ) {
        let activity = Arc::new(Activity::default());
        let Ok(place) = self.table.admit(address.ip(), &activity) else { return };
        let stream = tokio::select! {
            biased;
            () = place.evicted() => return,
            stream = timeout(HANDSHAKE_TIMEOUT, self.handshake(stream, address)) => stream,
        };
        let Ok(Some(stream)) = stream else { return self.tls_errors.inc() };
        place.set_connected();
        let certificate = PresentedCertificate::new(stream.get_ref().1.peer_certificates(), &self.authorities);
        let peer = Arc::new(Peer { address, certificate, close: Notify::new(), place: Some(place.clone()) });
        self.serve_http(stream, peer, activity, handler, shutdown).await;
        place.set_upgraded();
    }

    async fn handshake(&self, mut stream: TcpStream, address: SocketAddr) -> Option<TlsStream<TcpStream>> {
        // Answers are written whole; waiting for more to send only adds delay.
        let _ = stream.set_nodelay(true);
        let terms = self.terms.read().unwrap_or_else(PoisonError::into_inner).clone();
        if !plaintext::speaks_tls(&mut stream).await {
            return None;
        }
        let stream = terms.acceptor.accept(stream).await;
        stream.inspect_err(|error| tracing::debug!(%address, %error, "TLS handshake error")).ok()
    }

    async fn serve_http(
        &self,
        stream: TlsStream<TcpStream>,
        peer: Arc<Peer>,
        activity: Arc<Activity>,
        handler: Arc<dyn Handler>,
        shutdown: Shutdown,
    ) {
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let (streams, mut settled) = Streams::new();
        let builder = if is_http2 { http2(streams, self.max_streams, self.window) } else { http1(streams) };
        let service = {
            let (peer, activity) = (Arc::clone(&peer), Arc::clone(&activity));
            service_fn(move |request| answer(request, Arc::clone(&peer), Arc::clone(&handler), activity.begin()))
        };
        let (stream, mut turns) = gather(stream, is_http2);
        if let Some(place) = &peer.place {
            turns.hold(place.clone());
        }
        let ear = SelfWakeTracker::new();
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let mut ends = reasons_to_end(&shutdown, &peer, &activity, self.max_age);
        loop {
            let end = tokio::select! {
                biased;
                ended = poll_fn(|context| {
                    let polled = poll::poll_streams_then_connection(&ear, context, |context| settled.poll(context), |context| connection.as_mut().poll(context));
                    let polled = polled.map_err(|error| error.to_string());
                    match turns.end(context, activity.under_way() > settled.len()) {
                        Err(error) if polled.is_pending() => Poll::Ready(Err(error.to_string())),
                        _ => polled,
                    }
                }) => {
                    if let Err(error) = ended {
                        tracing::debug!(address = %peer.address, error, "connection ended");
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
                    ends.extend(peer.place.clone().map(evicted));
                }
                Some(End::AtOnce) | None => return,
            }
        }
    }
}

/// How a connection is to be ended.
enum End {
    /// Once its requests have been answered.
    Gracefully,
    AtOnce,
}

type Ends = FuturesUnordered<BoxFuture<'static, End>>;

/// Why a connection is to be ended, each as it comes about. One stream of all: a connection that is polled is seldom
/// polled for one of these.
fn reasons_to_end(shutdown: &Shutdown, peer: &Arc<Peer>, activity: &Arc<Activity>, max_age: Option<Duration>) -> Ends {
    let (shutdown, closed, idle, activity) = (shutdown.clone(), peer.clone(), peer.clone(), activity.clone());
    let ends: [BoxFuture<'static, ()>; 3] = [
        Box::pin(async move { shutdown.reached(Phase::Draining).await }),
        Box::pin(async move { closed.close.notified().await }),
        Box::pin(async move { activity.ceased(|| idle.is_authenticated()).await }),
    ];
    let old = max_age.map(|age| -> BoxFuture<'static, ()> { Box::pin(tokio::time::sleep(jittered(age))) });
    let graceful = ends.into_iter().chain(old);
    let graceful = graceful.map(|end| -> BoxFuture<'static, End> { Box::pin(end.map(|()| End::Gracefully)) });
    graceful.chain(peer.place.clone().map(evicted)).collect()
}

/// An age, give or take a tenth: connections that were made together are not ended together (gRPC: `MAX_CONNECTION_AGE`).
fn jittered(age: Duration) -> Duration {
    age.mul_f64(rand::random_range(0.9..=1.1))
}

fn evicted(place: Arc<Place>) -> BoxFuture<'static, End> {
    Box::pin(async move {
        place.evicted().await;
        End::AtOnce
    })
}

/// Waits until a connection that ends has no requests, and its client has had time to close it.
async fn unused(activity: Arc<Activity>) -> End {
    loop {
        tokio::time::sleep(CLOSE_TIMEOUT).await;
        if activity.under_way() == 0 {
            return End::AtOnce;
        }
    }
}

fn http1(streams: Streams) -> Builder<Streams> {
    let mut builder = Builder::new(streams).http1_only();
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADERS as usize)
        .pipeline_flush(true);
    builder
}

fn http2(streams: Streams, max_streams: u32, window: u32) -> Builder<Streams> {
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
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

async fn answer(
    request: hyper::Request<Incoming>,
    peer: Arc<Peer>,
    handler: Arc<dyn Handler>,
    under_way: UnderWay,
) -> Result<crate::Response, Infallible> {
    let (mut request, leftover) = Leftover::of(request);
    request.extensions_mut().insert(peer);
    let response = handler.handle(request).await;
    if response.extensions().get::<Waits>().is_some() {
        settle();
    }
    if let Some(leftover) = leftover {
        // A client that sends slowly has to be done by then.
        let _ = timeout(HANDSHAKE_TIMEOUT, leftover.drain()).await;
    }
    Ok(response.map(|body| body.hold(under_way)))
}
