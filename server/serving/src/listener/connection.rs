//! One connection: its handshake, its requests, its end.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use prometheus::IntCounter;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::activity::{Activity, UnderWay};
use super::client_certificates::{Authorities, CurrentAuthorities, PresentedCertificate, system_clock};
use super::ear::Ear;
use super::gather::gather;
use super::leftover::Leftover;
use super::streams::{Streams, Waits, settle};
use super::tls::Terms;
use super::{Peer, plaintext, turn};
use crate::handler::{BoxFuture, Handler};
use crate::options::ServingOptions;
use crate::shutdown::{Phase, Shutdown};

/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the head of an HTTP/1.1 request may take, counted from the end of the answer before (upstream: `ReadHeaderTimeout`).
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// What upstream gives a stream, so that most bodies come in one go: the 99th percentile of bodies.
const STREAM_WINDOW: u32 = 256 * 1024;
/// The largest window that HTTP/2 has for a connection.
const MAX_WINDOW: u32 = (1 << 31) - 1;
/// The longest frame a client may send.
const MAX_FRAME: u32 = 256 * 1024;
/// All headers of a request together (Go: `DefaultMaxHeaderBytes`).
const MAX_HEADERS: u32 = 1 << 20;
/// How often a silent HTTP/2 connection is asked whether it is still there, and how long it may take to say so.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// Streams of a connection that a client may take back before they were looked at (CVE-2023-44487).
const MAX_RESET_STREAMS: usize = 100;

/// What all connections share.
pub(super) struct Connections {
    terms: RwLock<Arc<Terms>>,
    authorities: Arc<CurrentAuthorities>,
    /// Streams that an HTTP/2 connection may have at a time.
    max_streams: u32,
    tls_errors: IntCounter,
}

impl Connections {
    pub(super) fn new(
        (terms, authorities): (Terms, Authorities),
        options: &ServingOptions,
        tls_errors: IntCounter,
    ) -> Self {
        Connections {
            terms: RwLock::new(Arc::new(terms)),
            authorities: Arc::new(CurrentAuthorities::new(authorities, system_clock())),
            max_streams: options.http2_max_streams,
            tls_errors,
        }
    }

    /// Makes handshakes with these terms, and judges client certificates by these authorities, from now on. Open
    /// connections go on; their next requests are judged by the new authorities.
    pub(super) fn set_terms(&self, (terms, authorities): (Terms, Authorities)) {
        self.authorities.replace(authorities);
        *self.terms.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(terms);
    }

    /// Serves a connection to its end.
    pub(super) async fn serve(
        &self,
        mut stream: TcpStream,
        address: SocketAddr,
        handler: Arc<dyn Handler>,
        shutdown: Shutdown,
    ) {
        // Answers are written whole; waiting for more to send only adds delay.
        let _ = stream.set_nodelay(true);
        let terms = self.terms.read().unwrap_or_else(PoisonError::into_inner).clone();
        let handshake = async {
            if !plaintext::speaks_tls(&mut stream).await {
                return None;
            }
            match terms.acceptor.accept(stream).await {
                Ok(stream) => Some(stream),
                Err(error) => {
                    tracing::debug!(%address, %error, "TLS handshake error");
                    None
                }
            }
        };
        let Ok(Some(stream)) = timeout(HANDSHAKE_TIMEOUT, handshake).await else { return self.tls_errors.inc() };
        let session = stream.get_ref().1;
        let is_http2 = session.alpn_protocol() == Some(b"h2");
        let (streams, mut settled) = Streams::new();
        let builder = if is_http2 { http2(streams, self.max_streams) } else { http1(streams) };
        let certificate = PresentedCertificate::new(session.peer_certificates(), &self.authorities);
        let peer = Arc::new(Peer { address, certificate, close: Notify::new() });
        let activity = Arc::new(Activity::default());
        let service = {
            let (peer, activity) = (Arc::clone(&peer), Arc::clone(&activity));
            service_fn(move |request| answer(request, Arc::clone(&peer), Arc::clone(&handler), activity.begin()))
        };
        let (stream, mut turns) = gather(stream, is_http2);
        let ear = Ear::new();
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let mut ends = reasons_to_end(&shutdown, &peer, &activity);
        let mut closing = false;
        loop {
            tokio::select! {
                biased;
                ended = poll_fn(|context| {
                    let polled = turn::take(&ear, context, |context| settled.poll(context), |context| connection.as_mut().poll(context));
                    let polled = polled.map_err(|error| error.to_string());
                    match turns.end(context, activity.under_way() > settled.len()) {
                        Err(error) if polled.is_pending() => Poll::Ready(Err(error.to_string())),
                        _ => polled,
                    }
                }) => {
                    if let Err(error) = ended {
                        tracing::debug!(%address, error, "connection ended");
                    }
                    return;
                }
                _ = ends.next(), if !closing => {}
            }
            connection.as_mut().graceful_shutdown();
            closing = true;
        }
    }
}

/// Why a connection is to be ended once its requests have been answered, each as it comes about. One stream of all: a connection that is polled is
/// seldom polled for one of these.
fn reasons_to_end(
    shutdown: &Shutdown,
    peer: &Arc<Peer>,
    activity: &Arc<Activity>,
) -> FuturesUnordered<BoxFuture<'static, ()>> {
    let (shutdown, peer, activity) = (shutdown.clone(), peer.clone(), activity.clone());
    let reasons: [BoxFuture<'static, ()>; 3] = [
        Box::pin(async move { shutdown.reached(Phase::Draining).await }),
        Box::pin(async move { peer.close.notified().await }),
        Box::pin(async move { activity.ceased().await }),
    ];
    reasons.into_iter().collect()
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

fn http2(streams: Streams, max_streams: u32) -> Builder<Streams> {
    let mut builder = Builder::new(streams).http2_only();
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(max_streams)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(STREAM_WINDOW.saturating_mul(max_streams).min(MAX_WINDOW))
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
