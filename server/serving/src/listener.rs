//! From sockets to requests: TLS, HTTP/1.1 and HTTP/2, and an orderly end.

mod activity;
mod buffer_pool;
pub(crate) mod client_certificates;
mod coalesce;
mod connection;
mod drain_on_drop;
mod limits;
mod plaintext;
mod poll;
mod renewal;
mod self_wake;
mod streams;
mod table;
mod tls;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Notify, mpsc};

use crate::Error;
use crate::authentication::ClientCertificate;
use crate::certificates::{Certificates, TlsContents, TlsFiles};
use crate::handler::Handler;
use crate::logging::LogLimit;
use crate::metrics::Metrics;
use crate::options::{Options, ServingOptions};
use crate::shutdown::{Phase, Shutdown};
use client_certificates::PresentedCertificate;
use connection::Connections;
pub(crate) use streams::{Waits, body_is_asked};
use table::Place;
use tls::Terms;

/// How long the server waits after an accept that failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4_096;

/// The other end of a connection; in the extensions of each of its requests as `Arc<Peer>`.
pub struct Peer {
    pub address: SocketAddr,
    /// The certificate that the client presented.
    pub(crate) certificate: Option<PresentedCertificate>,
    pub(crate) close: Notify,
    pub(crate) place: Option<Arc<Place>>,
}

impl Default for Peer {
    fn default() -> Self {
        Peer { address: (Ipv4Addr::UNSPECIFIED, 0).into(), certificate: None, close: Notify::new(), place: None }
    }
}

impl Peer {
    /// The user whom the client's certificate proves at this moment.
    pub(crate) fn client(&self) -> ClientCertificate {
        self.certificate.as_ref().map_or(ClientCertificate::None, PresentedCertificate::client)
    }

    /// The front proxy that the client's certificate proves at this moment.
    pub(crate) fn proxy(&self) -> ClientCertificate {
        self.certificate.as_ref().map_or(ClientCertificate::None, PresentedCertificate::proxy)
    }

    /// A request of the connection was authenticated as a user that is not anonymous.
    pub(crate) fn set_authenticated(&self) {
        if let Some(place) = &self.place {
            place.set_authenticated();
        }
    }

    /// Whether a request of the connection was authenticated as a user that is not anonymous.
    pub(crate) fn is_authenticated(&self) -> bool {
        self.place.as_ref().is_some_and(|place| place.is_authenticated())
    }

    /// Ends the connection once the requests that are under way have been answered (HTTP/2: GOAWAY).
    pub fn close(&self) {
        self.close.notify_one();
    }
}

/// A socket that listens, and everything it takes to serve on it.
pub struct Listener {
    listener: TcpListener,
    connections: Arc<Connections>,
    files: TlsFiles,
    contents: TlsContents,
    options: ServingOptions,
    /// How long requests may take to finish when no new ones are taken.
    drain: Duration,
}

impl Listener {
    /// Listens on the address of the options. Raises the soft limit of open files to the hard limit.
    pub fn bind(options: &Options, certificates: &Certificates, metrics: &Metrics) -> Result<Self, Error> {
        let serving = &options.serving;
        let address = SocketAddr::new(serving.bind_address, serving.secure_port);
        let listener = listen(address, serving.shares_port)
            .map_err(|source| Error::Listen { address: address.to_string(), source })?;
        let terms = Terms::new(serving, &certificates.tls)?;
        let connections = Arc::new(Connections::new(terms, serving, metrics));
        Ok(Listener {
            listener,
            connections,
            files: certificates.tls_files.clone(),
            contents: certificates.tls.clone(),
            options: serving.clone(),
            drain: options.requests.request_timeout + serving.shutdown_watch_grace,
        })
    }

    /// Whether handshakes could be made with these certificates.
    #[cfg(test)]
    pub(crate) fn check(options: &Options, certificates: &Certificates) -> Result<(), Error> {
        Terms::new(&options.serving, &certificates.tls).map(drop)
    }

    /// Where it listens, with the port that was found if none was asked for.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        self.listener.local_addr().map_err(|source| Error::Listen { address: String::new(), source })
    }

    /// Serves until the shutdown is initiated, then drains: streams end, other requests may finish, new connections are refused.
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
                        // Mostly too many open files: an idle connection ends, and the next attempt waits for that.
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
            tracing::warn!("requests were still under way when the server ended");
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
