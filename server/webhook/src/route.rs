//! Routes to servers: direct, or through an egress proxy (upstream: `egressselector`).

use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Uri;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::dial_metrics::{DialMetrics, DialStage, Transport};
use crate::error::ConnectError;
use crate::{Error, Trust, konnectivity};

/// Timeout of a connection through a proxy (Go: `net.Dialer.Timeout` of client-go's transports).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size in bytes of a proxy's response headers (Go: `http.DefaultMaxHeaderBytes`).
const MAX_HEAD: usize = 1 << 20;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A byte stream.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<I: AsyncRead + AsyncWrite + Send + Unpin> Io for I {}

/// A route to servers. Clones share the metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Route(Option<Arc<ProxyRoute>>);

/// A proxy and its metrics.
#[derive(Debug)]
struct ProxyRoute {
    proxy: Proxy,
    dials: DialMetrics,
}

impl PartialEq for ProxyRoute {
    fn eq(&self, other: &Self) -> bool {
        self.proxy == other.proxy
    }
}

impl Eq for ProxyRoute {}

impl Hash for ProxyRoute {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.proxy.hash(state);
    }
}

/// A proxy that opens connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Proxy {
    /// HTTP CONNECT at `http://host:port`, or at `https://host:port` with these trust settings.
    Tcp(Uri, Box<Trust>),
    /// HTTP CONNECT at a Unix socket.
    Unix(PathBuf),
    /// A konnectivity server: gRPC at a Unix socket.
    Konnectivity(PathBuf),
}

/// A connection to a proxy.
enum ProxyConnection {
    Connect(Box<dyn Io>),
    Konnectivity(grpc::Client),
}

impl Route {
    /// Connects to servers directly.
    pub const DIRECT: Route = Route(None);

    /// Creates a route through a proxy, with metrics.
    ///
    /// # Errors
    /// Returns an error for malformed certificates or keys.
    pub fn through(proxy: Proxy, dials: &DialMetrics) -> Result<Self, Error> {
        if let Proxy::Tcp(_, trust) = &proxy {
            trust.config()?;
        }
        Ok(Route(Some(Arc::new(ProxyRoute { proxy, dials: dials.clone() }))))
    }

    /// Whether the route has no proxy.
    pub fn is_direct(&self) -> bool {
        self.0.is_none()
    }

    /// Connects to `host:port` through the proxy; none on a direct route.
    pub(crate) async fn connect(&self, address: &str) -> Option<Result<Box<dyn Io>, ConnectError>> {
        let ProxyRoute { proxy, dials } = self.0.as_deref()?;
        let (transport, begun, mut stage) = (proxy.transport(), Instant::now(), DialStage::Connect);
        dials.begin(transport);
        let connected = timeout(CONNECT_TIMEOUT, async {
            let reached = proxy.reach().await?;
            stage = DialStage::Proxy;
            reached.connect(&proxy.name(), address).await
        });
        let timed_out = |_| Err(ConnectError::Failed(format!("dial tcp {address}: i/o timeout")));
        let connected = connected.await.unwrap_or_else(timed_out);
        match connected {
            Ok(_) => dials.connected(transport, begun.elapsed()),
            Err(_) => dials.failed(transport, stage),
        }
        Some(connected)
    }
}

impl ProxyConnection {
    /// Requests a connection to an address from the proxy with this name.
    async fn connect(self, proxy: &str, address: &str) -> Result<Box<dyn Io>, ConnectError> {
        match self {
            ProxyConnection::Connect(stream) => tunnel(stream, proxy, address).await,
            ProxyConnection::Konnectivity(server) => Ok(Box::new(konnectivity::dial(&server, address).await?)),
        }
    }
}

impl Proxy {
    /// The name for error messages.
    fn name(&self) -> String {
        match self {
            Proxy::Tcp(uri, _) => uri.authority().map(ToString::to_string).unwrap_or_default(),
            Proxy::Unix(path) | Proxy::Konnectivity(path) => path.display().to_string(),
        }
    }

    /// The metrics labels.
    fn transport(&self) -> Transport {
        match self {
            Proxy::Tcp(..) => Transport { protocol: "http_connect", transport: "tcp" },
            Proxy::Unix(_) => Transport { protocol: "http_connect", transport: "uds" },
            Proxy::Konnectivity(_) => Transport { protocol: "grpc", transport: "uds" },
        }
    }

    /// Connects to the proxy. As upstream, a konnectivity server gets a new connection each time.
    async fn reach(&self) -> Result<ProxyConnection, ConnectError> {
        let name = self.name();
        let failed = |error: std::io::Error| ConnectError::dial(&name, &error);
        match self {
            Proxy::Unix(path) => {
                Ok(ProxyConnection::Connect(Box::new(UnixStream::connect(path).await.map_err(failed)?)))
            }
            Proxy::Konnectivity(_) => {
                let server = grpc::Client::connected(&grpc::socket(&name)).await;
                server.map(ProxyConnection::Konnectivity).map_err(|why| {
                    ConnectError::Failed(format!("connection error: desc = \"transport: Error while dialing: {why}\""))
                })
            }
            Proxy::Tcp(uri, trust) => {
                let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
                let secure = uri.scheme_str() == Some("https");
                let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
                let stream = TcpStream::connect((host.as_str(), port)).await.map_err(failed)?;
                let _ = stream.set_nodelay(true);
                if !secure {
                    return Ok(ProxyConnection::Connect(Box::new(stream)));
                }
                let wrong = |why: String| ConnectError::Failed(why);
                let config = trust.config().map_err(|why| wrong(why.to_string()))?;
                let name = trust.server_name.clone().unwrap_or(host);
                let name = ServerName::try_from(name).map_err(|why| wrong(why.to_string()))?;
                let stream = TlsConnector::from(config).connect(name, stream).await;
                Ok(ProxyConnection::Connect(Box::new(stream.map_err(|error| ConnectError::handshake(&error))?)))
            }
        }
    }
}

/// Requests a tunnel to an address from a proxy (upstream: `tunnelHTTPConnect`).
async fn tunnel(mut stream: Box<dyn Io>, proxy: &str, address: &str) -> Result<Box<dyn Io>, ConnectError> {
    let failed = |why: &dyn std::fmt::Display| {
        let what = format!("reading HTTP response from CONNECT to {address} via proxy {proxy} failed: {why}");
        ConnectError::Failed(what)
    };
    let request = format!("CONNECT {address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|why| failed(&why))?;
    stream.flush().await.map_err(|why| failed(&why))?;
    let mut head = Vec::new();
    let end = loop {
        if let Some(at) = head.windows(END_OF_HEAD.len()).position(|some| some == END_OF_HEAD) {
            break at + END_OF_HEAD.len();
        }
        if head.len() > MAX_HEAD || stream.read_buf(&mut head).await.map_err(|why| failed(&why))? == 0 {
            return Err(failed(&"unexpected EOF"));
        }
    };
    let line = String::from_utf8_lossy(&head[..end]);
    let line = line.lines().next().unwrap_or_default();
    let status = line.split_once(' ').filter(|(version, _)| version.starts_with("HTTP/")).map(|(_, status)| status);
    let code = status.and_then(|status| status.split(' ').next()?.parse::<u16>().ok());
    match (code, head.len() - end) {
        (Some(200), 0) => Ok(stream),
        // The client speaks first, so these bytes are from the proxy.
        (Some(200), more) => {
            Err(ConnectError::Failed(format!("unexpected {more} bytes of buffered data from CONNECT proxy {proxy:?}")))
        }
        (Some(code), _) => {
            let status = status.unwrap_or_default();
            Err(ConnectError::Failed(format!(
                "proxy error from {proxy} while dialing {address}, code {code}: {status}"
            )))
        }
        (None, _) => Err(failed(&format!("malformed HTTP response {line:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::duplex;

    #[tokio::test]
    async fn parses_connect_responses() {
        for (answer, expect) in [
            ("HTTP/1.1 200 OK\r\n\r\n", Ok(())),
            ("HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n", Ok(())),
            (
                "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n",
                Err("proxy error from p while dialing host:1, code 403: 403 Forbidden"),
            ),
            ("HTTP/1.1 200 OK\r\n\r\nhi", Err("unexpected 2 bytes of buffered data from CONNECT proxy \"p\"")),
            (
                "SSH-2.0\r\n\r\n",
                Err(
                    "reading HTTP response from CONNECT to host:1 via proxy p failed: malformed HTTP response \"SSH-2.0\"",
                ),
            ),
            ("HTTP/1.1 2", Err("reading HTTP response from CONNECT to host:1 via proxy p failed: unexpected EOF")),
        ] {
            let (near, mut far) = duplex(1024);
            far.write_all(answer.as_bytes()).await.unwrap();
            far.shutdown().await.unwrap();
            let answered = tunnel(Box::new(near), "p", "host:1").await.map(drop).map_err(|why| why.to_string());
            assert_eq!(answered, expect.map_err(str::to_owned), "{answer}");
            let mut sent = [0; 44];
            far.read_exact(&mut sent).await.unwrap();
            assert_eq!(&sent[..24], b"CONNECT host:1 HTTP/1.1\r");
        }
    }
}
