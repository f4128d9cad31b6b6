//! Accepts connections and serves HTTP/1.1 and HTTP/2 over TLS, with graceful shutdown.

mod activity;
mod buffer_pool;
pub(crate) mod client_certificates;
mod coalesce;
mod connection;
mod drain_on_drop;
mod limits;
mod peer;
mod plaintext;
mod renewal;
mod self_wake;
mod streams;
mod table;
mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use options::{Options, ServingOptions};
use request::Handler;
use telemetry::logging::LogLimit;
use telemetry::metrics::Metrics;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::mpsc;

use crate::Error;
use crate::certificates::{Certificates, TlsContents, TlsFiles};
use crate::shutdown::{Phase, Shutdown};
use connection::Connections;
pub(crate) use streams::{WatchResponse, body_polled};
use tls::TlsConfig;

/// The pause after a failed accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The length of the accept queue.
const BACKLOG: u32 = 4_096;

/// A listening socket and the state for serving its connections.
pub struct Listener {
    listener: TcpListener,
    connections: Arc<Connections>,
    files: TlsFiles,
    contents: TlsContents,
    options: ServingOptions,
    /// How long requests in flight may take to complete during shutdown.
    drain: Duration,
}

impl Listener {
    /// Listens on the address of the options. Raises the soft limit of open files to the hard
    /// limit.
    ///
    /// # Errors
    /// The address is in use, or TLS cannot be configured.
    pub fn bind(options: &Options, certificates: &Certificates, metrics: &Metrics) -> Result<Self, Error> {
        let serving = &options.serving;
        let address = SocketAddr::new(serving.bind_address, serving.secure_port);
        let listener = listen(address, serving.shares_port)
            .map_err(|source| Error::Listen { address: address.to_string(), source })?;
        let tls_config = TlsConfig::new(serving, &certificates.tls)?;
        let connections = Arc::new(Connections::new(tls_config, serving, metrics));
        Ok(Listener {
            listener,
            connections,
            files: certificates.tls_files.clone(),
            contents: certificates.tls.clone(),
            options: serving.clone(),
            drain: options.requests.request_timeout + serving.shutdown_watch_grace,
        })
    }

    /// Checks that a TLS configuration can be created from these certificates.
    #[cfg(test)]
    pub(crate) fn check(options: &Options, certificates: &Certificates) -> Result<(), Error> {
        TlsConfig::new(&options.serving, &certificates.tls).map(drop)
    }

    /// The address of the socket, with the port that the system chose if the options have none.
    ///
    /// # Errors
    /// The system does not report the address.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        self.listener.local_addr().map_err(|source| Error::Listen { address: String::new(), source })
    }

    /// Serves until the shutdown is initiated, then drains: streams end, other requests may
    /// complete, and new connections are refused.
    pub async fn serve(self, handler: Arc<dyn Handler>, shutdown: &Shutdown) {
        let connections = self.connections;
        let renewal =
            tokio::spawn(renewal::follow(connections.clone(), self.options.clone(), self.files, self.contents));
        // Every connection holds a sender, so that the receiver ends with the last of them.
        let (alive, mut all_ended) = mpsc::channel::<()>(1);
        let failures = LogLimit::default();
        tokio::spawn({
            let shutdown = shutdown.clone();
            async move { shutdown.drain_after(self.options.shutdown_delay, self.drain).await }
        });
        let end = shutdown.reached(Phase::Draining);
        tokio::pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => break,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, address)) => {
                        let (connections, handler, shutdown) = (Arc::clone(&connections), Arc::clone(&handler), shutdown.clone());
                        let alive = alive.clone();
                        tokio::spawn(async move {
                            connections.serve(stream, address, handler, shutdown).await;
                            drop(alive);
                        });
                    }
                    Err(error) => {
                        // The usual cause is too many open files: evict an idle connection before
                        // the next attempt.
                        if let Some(unlogged) = failures.admit() {
                            tracing::warn!(%error, unlogged, "cannot accept a connection");
                        }
                        connections.make_room();
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        drop((self.listener, alive));
        renewal.abort();
        if tokio::time::timeout(self.drain, all_ended.recv()).await.is_err() {
            tracing::warn!("shutdown timed out; aborting requests in flight");
        }
    }
}

fn listen(address: SocketAddr, shares_port: bool) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(shares_port)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
