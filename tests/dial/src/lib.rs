//! What programs that test or load a server share: who to be at which server, by a kubeconfig, and connections over
//! TLS.

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

/// HTTP/1.1 and HTTP/2, as TLS calls them.
pub const HTTP1: &[u8] = b"http/1.1";
pub const HTTP2: &[u8] = b"h2";

/// A server that connections can be made to.
pub struct Dial {
    pub access: Access,
    tls: Arc<ClientConfig>,
}

impl Dial {
    /// Connections with the certificates that a kubeconfig names.
    ///
    /// # Errors
    /// Certificates or a key that cannot be read.
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

    /// Host and port.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.access.host, self.access.port)
    }

    /// A connection of its own, on which this protocol is spoken.
    ///
    /// # Errors
    /// A server that is not there, or that TLS cannot be spoken with.
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

/// Takes whatever certificate a server shows, when the kubeconfig says so.
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
