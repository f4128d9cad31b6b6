//! From sockets to requests: TLS, HTTP/1.1 and HTTP/2, and an orderly end.

mod activity;
pub(crate) mod client_certificates;
mod connection;
mod ear;
mod gather;
mod leftover;
mod plaintext;
mod renewal;
mod spare;
mod streams;
mod tls;
mod turn;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use prometheus::IntCounter;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Notify, Semaphore};

use crate::Error;
use crate::authentication::ClientCertificate;
use crate::certificates::{Certificates, TlsContents, TlsFiles};
use crate::handler::Handler;
use crate::options::{Options, ServingOptions};
use crate::shutdown::{Phase, Shutdown};
use client_certificates::PresentedCertificate;
use connection::Connections;
pub(crate) use streams::{Waits, body_is_asked};
use tls::Terms;

/// Connections at a time. Each costs some ten kilobytes and a descriptor; past this the server would rather not accept.
const MAX_CONNECTIONS: usize = 32_768;
/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4_096;

/// The other end of a connection; in the extensions of each of its requests as `Arc<Peer>`.
pub struct Peer {
    pub address: SocketAddr,
    /// The certificate that the client presented.
    pub(crate) certificate: Option<PresentedCertificate>,
    pub(crate) close: Notify,
}

impl Default for Peer {
    fn default() -> Self {
        Peer { address: (Ipv4Addr::UNSPECIFIED, 0).into(), certificate: None, close: Notify::new() }
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
    /// Listens on the address of the options; `tls_errors` counts handshakes that come to nothing.
    pub fn bind(options: &Options, certificates: &Certificates, tls_errors: IntCounter) -> Result<Self, Error> {
        let serving = &options.serving;
        let address = SocketAddr::new(serving.bind_address, serving.secure_port);
        let listener = listen(address, serving.shares_port)
            .map_err(|source| Error::Listen { address: address.to_string(), source })?;
        let terms = Terms::new(serving, &certificates.tls)?;
        let connections = Arc::new(Connections::new(terms, serving, tls_errors));
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
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        tokio::spawn({
            let shutdown = shutdown.clone();
            async move { shutdown.drain_after(self.options.shutdown_delay, self.drain).await }
        });
        let end = shutdown.reached(Phase::Draining);
        tokio::pin!(end);
        loop {
            let accept = async {
                // A semaphore that is never closed always has a place in the end.
                let place = Arc::clone(&places).acquire_owned().await.ok();
                (self.listener.accept().await, place)
            };
            tokio::select! {
                biased;
                () = &mut end => break,
                (accepted, place) = accept => match accepted {
                    Ok((stream, address)) => {
                        let (connections, handler, shutdown) = (Arc::clone(&connections), Arc::clone(&handler), shutdown.clone());
                        tokio::spawn(async move {
                            let _place = place;
                            connections.serve(stream, address, handler, shutdown).await;
                        });
                    }
                    Err(error) => {
                        // Mostly too many open files: they become fewer, and asking at once again helps nobody.
                        tracing::warn!(%error, "accepting a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
        drop(self.listener);
        renewal.abort();
        // Every connection gives its place back when it ends, so having them all means that none is left.
        let all_ended = places.acquire_many(MAX_CONNECTIONS as u32);
        if tokio::time::timeout(self.drain, all_ended).await.is_err() {
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
