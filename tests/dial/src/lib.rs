//! Shared code of programs that test or load a server: credentials from a kubeconfig, and TLS
//! connections.

pub mod error;
pub mod kubeconfig;

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use error::{Error, Result};
use kubeconfig::Access;

/// ALPN names of HTTP/1.1 and HTTP/2.
pub const HTTP1: &[u8] = b"http/1.1";
pub const HTTP2: &[u8] = b"h2";

/// A TLS connector for one server.
pub struct Dial {
    pub access: Access,
    tls: Arc<ClientConfig>,
}

impl Dial {
    /// Creates a connector with the certificates of a kubeconfig.
    ///
    /// # Errors
    ///
    /// Fails when certificates or a key cannot be read.
    pub fn new(access: Access) -> Result<Self> {
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?;
        let builder = match &access.authority {
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(pem)? {
                    roots.add(certificate)?;
                }
                builder.with_root_certificates(roots)
            }
            None => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate)),
        };
        let tls = match &access.certificate {
            Some((certificate, key)) => {
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|e| Error::Other(e.to_string()))?;
                builder.with_client_auth_cert(certificates(certificate)?, key)?
            }
            None => builder.with_no_client_auth(),
        };
        Ok(Dial { access, tls: Arc::new(tls) })
    }

    /// Returns host and port.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.access.host, self.access.port)
    }

    /// Opens a separate connection with this protocol.
    ///
    /// # Errors
    ///
    /// Fails when the server cannot be reached, or when the TLS handshake fails.
    pub async fn connect(&self, protocol: &[u8]) -> Result<TlsStream<TcpStream>> {
        let tcp = TcpStream::connect((self.access.host.as_str(), self.access.port)).await?;
        tcp.set_nodelay(true)?;
        let name = ServerName::try_from(self.access.host.clone()).map_err(|e| Error::Other(e.to_string()))?;
        let mut config = ClientConfig::clone(&self.tls);
        config.alpn_protocols = vec![protocol.to_vec()];
        Ok(TlsConnector::from(Arc::new(config)).connect(name, tcp).await?)
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem).collect::<std::result::Result<_, _>>().map_err(|e| Error::Other(e.to_string()))
}

/// Accepts any server certificate, as the kubeconfig may request.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
