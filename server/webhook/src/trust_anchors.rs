//! Verification of servers that present a CA certificate. Go accepts a certificate that is both CA
//! and server certificate; few other libraries do.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};
use x509_parser::prelude::{ASN1Time, FromDer, X509Certificate};

use crate::Error;

/// Accepts certificates that the CAs have signed, and the CA certificates themselves (Go: a chain
/// of one certificate).
#[derive(Debug)]
pub(crate) struct TrustAnchorVerifier {
    signed: Arc<WebPkiServerVerifier>,
    authorities: Vec<CertificateDer<'static>>,
}

impl TrustAnchorVerifier {
    /// Creates a verifier with these CAs, as roots and as server certificates.
    ///
    /// # Errors
    /// Returns an error if there are none.
    pub fn new(
        roots: RootCertStore,
        authorities: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
        let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let signed = signed.map_err(|why| Error::Configuration(why.to_string()))?;
        Ok(TrustAnchorVerifier { signed, authorities })
    }
}

impl ServerCertVerifier for TrustAnchorVerifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.signed.verify_server_cert(shown, intermediates, name, ocsp, now) {
            Err(_) if self.authorities.contains(shown) && is_valid(shown, now) => {
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

/// Whether a certificate is within its validity period.
fn is_valid(certificate: &CertificateDer<'_>, now: UnixTime) -> bool {
    let now = i64::try_from(now.as_secs()).ok().and_then(|seconds| ASN1Time::from_timestamp(seconds).ok());
    let parsed = X509Certificate::from_der(certificate).map(|(_, parsed)| parsed);
    now.zip(parsed.ok()).is_some_and(|(now, parsed)| parsed.validity().is_valid_at(now))
}
