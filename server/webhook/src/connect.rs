//! Connections: an address, and TLS on top of it.

use std::future::Future;
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

/// How long a connection may take (Go: `net.Dialer.Timeout` and `TLSHandshakeTimeout` of client-go's transports).
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Makes connections to the address of a URI.
#[derive(Clone)]
pub(crate) struct Connector {
    pub config: Arc<ClientConfig>,
    /// The name that the server has to show, when it is not that of the URI.
    pub server_name: Option<Arc<str>>,
}

/// A connection.
pub(crate) enum Stream {
    Plain(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

impl Connector {
    async fn connect(self, uri: Uri) -> Result<Stream, ConnectError> {
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let secure = uri.scheme_str() != Some("http");
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let stream = dial(&host, port).await?;
        let _ = stream.set_nodelay(true);
        if !secure {
            return Ok(Stream::Plain(TokioIo::new(stream)));
        }
        let name = self.server_name.as_deref().unwrap_or(&host).to_owned();
        let name = ServerName::try_from(name).map_err(|e| ConnectError(e.to_string()))?;
        let handshake = TlsConnector::from(self.config).connect(name, stream);
        let Ok(stream) = timeout(HANDSHAKE_TIMEOUT, handshake).await else {
            return Err(ConnectError("net/http: TLS handshake timeout".into()));
        };
        let stream = stream.map_err(|error| ConnectError::handshake(&error))?;
        Ok(Stream::Tls(Box::new(TokioIo::new(stream))))
    }
}

/// The first address of a host that answers.
async fn dial(host: &str, port: u16) -> Result<TcpStream, ConnectError> {
    let addresses = tokio::net::lookup_host((host, port)).await.map_err(|_| ConnectError::lookup(host))?;
    let mut failure = ConnectError::lookup(host);
    for address in addresses {
        match timeout(DIAL_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = ConnectError::dial(&address.to_string(), &error),
            Err(_) => failure = ConnectError(format!("dial tcp {address}: i/o timeout")),
        }
    }
    Err(failure)
}

impl tower_service::Service<Uri> for Connector {
    type Response = Stream;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, ConnectError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buffer),
        }
    }
}

impl Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}
