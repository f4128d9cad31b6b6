//! Trust settings of a client: server verification and client certificate.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::trust_anchors::TrustAnchorVerifier;
use crate::{Error, Route};

/// Client certificate and key, in PEM.
pub type ClientIdentity = (Vec<u8>, Vec<u8>);

/// Trust settings of a connection (upstream: `transport.TLSConfig`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trust {
    /// The CA bundle, in PEM. If empty, the CAs of the system.
    pub authorities: Vec<u8>,
    /// Disables verification of the server's certificate.
    pub insecure: bool,
    pub identity: Option<ClientIdentity>,
    /// The expected server name, if it differs from the host of the URL.
    pub server_name: Option<String>,
    /// Dials only addresses of another host: no loopback, link-local or multicast addresses.
    pub remote_only: bool,
    /// The route to servers.
    pub route: Route,
}

impl Trust {
    /// Builds the configuration of rustls.
    ///
    /// # Errors
    /// Returns an error for malformed certificates or keys.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone());
        let builder = builder.with_safe_default_protocol_versions().map_err(|e| Error::Configuration(e.to_string()))?;
        let builder = match self.insecure {
            true => builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider))),
            false if self.authorities.is_empty() => builder.with_root_certificates(self.roots()?),
            false => {
                let verifier = TrustAnchorVerifier::new(self.roots()?, certificates(&self.authorities)?, provider)?;
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
        };
        let config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates(certificate)?;
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|e| Error::Configuration(e.to_string()))?;
                let config = builder.with_client_auth_cert(chain, key);
                config.map_err(|e| Error::Configuration(format!("tls: {e}")))?
            }
        };
        Ok(Arc::new(config))
    }

    fn roots(&self) -> Result<RootCertStore, Error> {
        let mut roots = RootCertStore::empty();
        if self.authorities.is_empty() {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            return Ok(roots);
        }
        let unusable =
            || Error::Configuration("unable to load root certificates: unable to parse bytes as PEM block".into());
        for authority in certificates(&self.authorities).map_err(|_| unusable())? {
            roots.add(authority).map_err(|_| unusable())?;
        }
        Ok(roots)
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(Error::Configuration("tls: failed to find any PEM data in certificate input".into())),
    }
}

/// Accepts any certificate, but verifies that the server has its key.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
