//! Connections under the test's control: attacks depend on the connection that carries a request.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use http::Request;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{RootCertStore, SupportedCipherSuite};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::common::Server;

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// A certificate authority for clients.
pub struct Authority {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = named(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::from_ca_cert_pem(&pem, key).unwrap(), pem }
    }

    /// Issues a certificate for a user and groups, with this lifetime.
    pub fn issue(&self, name: &str, groups: &[&str], life: Duration) -> Pair {
        let mut params = named(name, groups);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.not_after = (SystemTime::now() + life).into();
        let key = KeyPair::generate().unwrap();
        Pair { certificate: params.signed_by(&key, &self.issuer).unwrap().pem(), key: key.serialize_pem() }
    }
}

fn named(name: &str, groups: &[&str]) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    groups.iter().for_each(|group| params.distinguished_name.push(DnType::OrganizationName, *group));
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = (SystemTime::now() - Duration::from_secs(3600)).into();
    params
}

/// Parameters of connections to a server.
#[derive(Clone)]
pub struct Dialer {
    connector: TlsConnector,
    pub address: SocketAddr,
    /// The source address of the connections.
    from: IpAddr,
    is_http2: bool,
}

impl Dialer {
    /// Connections by a client with an optional certificate.
    pub fn new(server: &Server, certificate: Option<&Pair>, is_http2: bool) -> Self {
        let authority = server.data().join("pki/ca.crt");
        Self::with_provider(server, &authority, certificate, is_http2, default_provider())
    }

    /// Connections by a client that trusts the certificates of a file and offers only these cipher
    /// suites.
    pub fn with_suites(server: &Server, trusted: &Path, suites: &[SupportedCipherSuite]) -> Self {
        let provider = CryptoProvider { cipher_suites: suites.to_vec(), ..default_provider() };
        Self::with_provider(server, trusted, None, false, provider)
    }

    fn with_provider(
        server: &Server,
        trusted: &Path,
        certificate: Option<&Pair>,
        is_http2: bool,
        provider: CryptoProvider,
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(trusted).unwrap()).unwrap();
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(provider));
        let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
        let mut config = match certificate {
            Some(pair) => {
                let chain = vec![CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
                config.with_client_auth_cert(chain, key).unwrap()
            }
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![if is_http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        Dialer {
            connector: TlsConnector::from(Arc::new(config)),
            address: server.url.strip_prefix("https://").unwrap().parse().unwrap(),
            from: IpAddr::from([127, 0, 0, 1]),
            is_http2,
        }
    }

    /// Sets another source address of this host.
    pub fn source_address(self, from: [u8; 4]) -> Self {
        Dialer { from: from.into(), ..self }
    }

    /// Opens a connection without TLS.
    pub async fn tcp(&self) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((self.from, 0).into())?;
        socket.connect(self.address).await
    }

    /// Opens a connection with TLS.
    pub async fn tls(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from("localhost").unwrap();
        self.connector.connect(name, self.tcp().await?).await
    }

    /// Opens a connection with HTTP.
    pub async fn http(&self) -> std::io::Result<Connection> {
        let io = TokioIo::new(self.tls().await?);
        let failed = |error: hyper::Error| std::io::Error::other(error);
        if self.is_http2 {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.map_err(failed)?;
            tokio::spawn(connection.map(drop));
            return Ok(Connection::Http2(sender));
        }
        let (sender, connection) = http1::handshake(io).await.map_err(failed)?;
        tokio::spawn(connection.map(drop));
        Ok(Connection::Http1(sender))
    }
}

/// An HTTP connection.
pub enum Connection {
    Http1(http1::SendRequest<String>),
    Http2(http2::SendRequest<String>),
}

impl Connection {
    /// Sends a GET; returns the response, whose body may continue.
    pub async fn send(&mut self, path: &str, headers: &[(&str, &str)]) -> hyper::Result<http::Response<Incoming>> {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match self {
            Connection::Http1(sender) => {
                sender.ready().await?;
                let request = request.header("Host", "localhost");
                sender.send_request(request.body(String::new()).unwrap()).await
            }
            Connection::Http2(sender) => {
                let request = request.uri(format!("https://localhost{path}"));
                sender.send_request(request.body(String::new()).unwrap()).await
            }
        }
    }

    /// Sends a GET, reads the body and returns the status code.
    pub async fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> hyper::Result<u16> {
        let response = self.send(path, headers).await?;
        let code = response.status().as_u16();
        let mut body = response.into_body();
        while let Some(frame) = next_frame(&mut body).await {
            frame?;
        }
        Ok(code)
    }
}

/// Returns the next frame of a body; `None` at its end.
pub async fn next_frame(body: &mut Incoming) -> Option<hyper::Result<hyper::body::Bytes>> {
    use hyper::body::Body;
    loop {
        let frame = std::future::poll_fn(|context| std::pin::Pin::new(&mut *body).poll_frame(context)).await?;
        match frame.map(hyper::body::Frame::into_data) {
            Ok(Ok(data)) => return Some(Ok(data)),
            Ok(Err(_)) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}
