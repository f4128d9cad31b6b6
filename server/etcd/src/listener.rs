//! Sockets and connections: gRPC over HTTP/2 and HTTP/1.1 at the same address, with TLS or without.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
};

use crate::{Address, Error, Limits, dispatch, etcd::Etcd, tls::Tls, web};

/// The length of the accept queue.
const BACKLOG: u32 = 1024;
/// The pause after a failed accept. The usual cause is too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a client may take for a TLS handshake, and for the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much a client may send ahead on a stream, and on a connection.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;

/// What is served at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServedContent {
    Everything,
    Grpc,
    Http,
}

/// A socket that listens.
pub(crate) struct Listener {
    socket: TcpListener,
    content: ServedContent,
    tls: Option<Arc<Tls>>,
}

impl Listener {
    /// Listens at an address. A name is looked up; IPv4 is preferred, as by Go.
    ///
    /// # Errors
    /// The name is unknown, or the address is in use.
    pub(crate) async fn bind(
        address: &Address,
        content: ServedContent,
        tls: Option<Arc<Tls>>,
        reuse_port: bool,
    ) -> Result<Self, Error> {
        let text = format!("{}:{}", address.host, address.port);
        let failed = |source| Error::Listen { address: text.clone(), source };
        let found: Vec<SocketAddr> =
            tokio::net::lookup_host((address.host.as_str(), address.port)).await.map_err(failed)?.collect();
        let chosen = found.iter().find(|found| found.is_ipv4()).or(found.first());
        let chosen = *chosen.ok_or_else(|| failed(std::io::Error::other("the name has no address")))?;
        let socket = listen(chosen, reuse_port).map_err(failed)?;
        Ok(Self { socket, content, tls: tls.filter(|_| address.tls) })
    }

    /// Returns the address, with the port that the system chose.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Accepts connections until the server stops.
    pub(crate) async fn serve(self, etcd: Arc<Etcd>) {
        let stopped = etcd.stopped();
        tokio::pin!(stopped);
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = &mut stopped => return,
            };
            match accepted {
                Ok((stream, _)) => {
                    tokio::spawn(connection(stream, self.content, self.tls.clone(), Arc::clone(&etcd)));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

fn listen(address: SocketAddr, reuse_port: bool) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(reuse_port)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

async fn connection(stream: TcpStream, content: ServedContent, tls: Option<Arc<Tls>>, etcd: Arc<Etcd>) {
    let _ = stream.set_nodelay(true); // a failure only delays small messages
    let Some(tls) = tls else { return serve(stream, content, etcd).await };
    match tokio::time::timeout(PATIENCE, tls.acceptor().accept(stream)).await {
        Ok(Ok(stream)) => serve(stream, content, etcd).await,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

/// Serves the requests of a connection, until it or the server ends.
async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, content: ServedContent, etcd: Arc<Etcd>) {
    let builder = builder(&etcd.limits);
    let service = service_fn(|request: Request<Incoming>| {
        let etcd = Arc::clone(&etcd);
        async move { Ok::<_, Infallible>(answer(etcd, content, request).await) }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = etcd.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection failed");
    }
}

fn builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    builder
        .http2()
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(limits.max_concurrent_streams)
        .keep_alive_interval(limits.keepalive_interval)
        .keep_alive_timeout(limits.keepalive_timeout);
    builder
}

async fn answer(
    etcd: Arc<Etcd>,
    content: ServedContent,
    request: Request<Incoming>,
) -> http::Response<tonic::body::Body> {
    let is_grpc = request
        .headers()
        .get(http::header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    match content {
        ServedContent::Everything | ServedContent::Grpc if is_grpc => dispatch::call(etcd, request).await,
        ServedContent::Everything | ServedContent::Http => web::answer(&etcd, &request).await,
        ServedContent::Grpc => web::not_found(),
    }
}
