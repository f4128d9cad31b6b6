//! Connections: TCP, and TLS on top of it.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::ConnectError;
use crate::route::{Io, Route};

/// Timeouts of a connection (Go: `net.Dialer.Timeout` and `TLSHandshakeTimeout` of client-go's
/// transports).
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to the host and port of a URI.
#[derive(Clone)]
pub(crate) struct Connector {
    pub config: Arc<ClientConfig>,
    /// The expected server name, if it differs from the host of the URI.
    pub server_name: Option<Arc<str>>,
    /// Whether addresses are rejected that are not addresses of another host.
    pub remote_only: bool,
    pub route: Route,
}

/// A connection.
pub(crate) enum MaybeTlsStream {
    Plain(TokioIo<Box<dyn Io>>),
    Tls(Box<TokioIo<TlsStream<Box<dyn Io>>>>),
}

impl Connector {
    async fn connect(self, uri: Uri) -> Result<MaybeTlsStream, ConnectError> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let secure = uri.scheme_str() != Some("http");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = self.dial(&host, port).await?;
        if !secure {
            return Ok(MaybeTlsStream::Plain(TokioIo::new(stream)));
        }
        let name = self.server_name.as_deref().unwrap_or(&host).to_owned();
        let name = ServerName::try_from(name).map_err(|e| ConnectError::Failed(e.to_string()))?;
        let handshake = TlsConnector::from(self.config).connect(name, stream);
        let Ok(stream) = timeout(HANDSHAKE_TIMEOUT, handshake).await else {
            return Err(ConnectError::Failed("net/http: TLS handshake timeout".into()));
        };
        let stream = stream.map_err(|error| ConnectError::handshake(&error))?;
        Ok(MaybeTlsStream::Tls(Box::new(TokioIo::new(stream))))
    }
}

impl Connector {
    /// Connects to a host, through the proxy of the route or directly. A proxy resolves names
    /// itself.
    async fn dial(&self, host: &str, port: u16) -> Result<Box<dyn Io>, ConnectError> {
        if self.remote_only && !self.route.is_direct() && host.parse().is_ok_and(|ip| !is_remote(ip)) {
            return Err(ConnectError::Refused);
        }
        let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        if let Some(connected) = self.route.connect(&address).await {
            return connected;
        }
        let stream = dial(host, port, self.remote_only).await?;
        let _ = stream.set_nodelay(true);
        Ok(Box::new(stream))
    }
}

/// Connects to the first address of a host that accepts. The name is resolved once, so that the
/// checked address is the dialled one (CVE-2020-8562).
async fn dial(host: &str, port: u16, remote_only: bool) -> Result<TcpStream, ConnectError> {
    let unknown = || ConnectError::Lookup(host.to_owned());
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host((host, port)).await.map_err(|_| unknown())?.collect();
    if remote_only && !addresses.iter().all(|address| is_remote(address.ip())) {
        return Err(ConnectError::Refused);
    }
    let mut failure = unknown();
    for address in addresses {
        match timeout(DIAL_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = ConnectError::dial(&address.to_string(), &error),
            Err(_) => failure = ConnectError::Failed(format!("dial tcp {address}: i/o timeout")),
        }
    }
    Err(failure)
}

/// Whether an address is that of a single other host (Go: `net.IP.IsGlobalUnicast`).
pub fn is_remote(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            !(ip.is_broadcast() || ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || ip.is_link_local())
        }
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => is_remote(ip.into()),
            None => !(ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || ip.is_unicast_link_local()),
        },
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = MaybeTlsStream;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<MaybeTlsStream, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

impl Connection for MaybeTlsStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for MaybeTlsStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            MaybeTlsStream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            MaybeTlsStream::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buffer),
        }
    }
}

impl Write for MaybeTlsStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            MaybeTlsStream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            MaybeTlsStream::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            MaybeTlsStream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            MaybeTlsStream::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            MaybeTlsStream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            MaybeTlsStream::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_remote;

    #[test]
    fn recognizes_addresses_of_other_hosts() {
        let check = |ip: &str, expect: bool| assert_eq!(ip.parse().is_ok_and(is_remote), expect, "{ip}");
        check("10.0.0.1", true);
        check("fd00::1", true);
        for refused in [
            "",
            "127.0.0.1",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "0.0.0.0",
            "::1",
            "fe80::1",
            "::ffff:127.0.0.1",
        ] {
            check(refused, false);
        }
    }
}
