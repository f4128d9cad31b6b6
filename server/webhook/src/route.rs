//! The ways to servers: directly, or through a proxy that makes the connection (upstream: `egressselector`).

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

use crate::dial_metrics::{DialMetrics, Stage, Transport};
use crate::error::ConnectError;
use crate::{Error, Trust, konnectivity};

/// How long a proxy may take to connect (Go: `net.Dialer.Timeout` of client-go's transports).
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest answer of a proxy that is read (Go: `http.DefaultMaxHeaderBytes`).
const MAX_HEAD: usize = 1 << 20;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// Whatever carries bytes.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<I: AsyncRead + AsyncWrite + Send + Unpin> Io for I {}

/// How servers are reached. Clones share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Route(Option<Arc<Through>>);

/// A proxy, and what is counted of it.
#[derive(Debug)]
struct Through {
    proxy: Proxy,
    dials: DialMetrics,
}

impl PartialEq for Through {
    fn eq(&self, other: &Self) -> bool {
        self.proxy == other.proxy
    }
}

impl Eq for Through {}

impl Hash for Through {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.proxy.hash(state);
    }
}

/// A proxy that makes connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Proxy {
    /// It understands HTTP CONNECT at `http://host:port`, or at `https://host:port` with this trust.
    Tcp(Uri, Box<Trust>),
    /// It understands HTTP CONNECT at a Unix socket.
    Unix(PathBuf),
    /// A konnectivity server, which speaks gRPC at a Unix socket.
    Konnectivity(PathBuf),
}

/// A proxy that was reached.
enum Reached {
    Connect(Box<dyn Io>),
    Konnectivity(grpc::Client),
}

impl Route {
    /// DialMetrics servers themselves.
    pub const DIRECT: Route = Route(None);

    /// Asks a proxy to dial, and counts how it does.
    ///
    /// # Errors
    /// When keys or certificates are none.
    pub fn through(proxy: Proxy, dials: &DialMetrics) -> Result<Self, Error> {
        if let Proxy::Tcp(_, trust) = &proxy {
            trust.config()?;
        }
        Ok(Route(Some(Arc::new(Through { proxy, dials: dials.clone() }))))
    }

    /// Whether a proxy is asked.
    pub fn is_direct(&self) -> bool {
        self.0.is_none()
    }

    /// A connection to `host:port` that the proxy made; none on a direct route.
    pub(crate) async fn connect(&self, address: &str) -> Option<Result<Box<dyn Io>, ConnectError>> {
        let Through { proxy, dials } = self.0.as_deref()?;
        let (way, begun, mut stage) = (proxy.way(), Instant::now(), Stage::Connect);
        dials.begin(way);
        let connected = timeout(PATIENCE, async {
            let reached = proxy.reach().await?;
            stage = Stage::Proxy;
            reached.connect(&proxy.name(), address).await
        });
        let late = |_| Err(ConnectError::Failed(format!("dial tcp {address}: i/o timeout")));
        let connected = connected.await.unwrap_or_else(late);
        match connected {
            Ok(_) => dials.connected(way, begun.elapsed()),
            Err(_) => dials.failed(way, stage),
        }
        Some(connected)
    }
}

impl Reached {
    /// Has the proxy of this name connect to an address.
    async fn connect(self, proxy: &str, address: &str) -> Result<Box<dyn Io>, ConnectError> {
        match self {
            Reached::Connect(stream) => tunnel(stream, proxy, address).await,
            Reached::Konnectivity(server) => Ok(Box::new(konnectivity::dial(&server, address).await?)),
        }
    }
}

impl Proxy {
    /// What it is called when something is wrong.
    fn name(&self) -> String {
        match self {
            Proxy::Tcp(uri, _) => uri.authority().map(ToString::to_string).unwrap_or_default(),
            Proxy::Unix(path) | Proxy::Konnectivity(path) => path.display().to_string(),
        }
    }

    /// What metrics call it.
    fn way(&self) -> Transport {
        match self {
            Proxy::Tcp(..) => Transport { protocol: "http_connect", transport: "tcp" },
            Proxy::Unix(_) => Transport { protocol: "http_connect", transport: "uds" },
            Proxy::Konnectivity(_) => Transport { protocol: "grpc", transport: "uds" },
        }
    }

    /// Reaches the proxy; a konnectivity server by a connection of its own each time, as upstream.
    async fn reach(&self) -> Result<Reached, ConnectError> {
        let name = self.name();
        let failed = |error: std::io::Error| ConnectError::dial(&name, &error);
        match self {
            Proxy::Unix(path) => Ok(Reached::Connect(Box::new(UnixStream::connect(path).await.map_err(failed)?))),
            Proxy::Konnectivity(_) => {
                let server = grpc::Client::connected(&grpc::socket(&name)).await;
                server.map(Reached::Konnectivity).map_err(|why| {
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
                    return Ok(Reached::Connect(Box::new(stream)));
                }
                let wrong = |why: String| ConnectError::Failed(why);
                let config = trust.config().map_err(|why| wrong(why.to_string()))?;
                let name = trust.server_name.clone().unwrap_or(host);
                let name = ServerName::try_from(name).map_err(|why| wrong(why.to_string()))?;
                let stream = TlsConnector::from(config).connect(name, stream).await;
                Ok(Reached::Connect(Box::new(stream.map_err(|error| ConnectError::handshake(&error))?)))
            }
        }
    }
}

/// Asks a proxy to go on as a connection to an address (upstream: `tunnelHTTPConnect`).
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
        // Whoever dials speaks first, so the proxy said this.
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
    async fn proxies_say_whether_they_connected() {
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
            let mut asked = [0; 44];
            far.read_exact(&mut asked).await.unwrap();
            assert_eq!(&asked[..24], b"CONNECT host:1 HTTP/1.1\r");
        }
    }
}
