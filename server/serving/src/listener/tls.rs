//! TLS: what the server shows, and what it makes of what clients show.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, RootCertStore, ServerConfig, SignatureScheme};

use crate::Error;
use crate::authentication::{ClientCertificate, user_of_certificate};
use crate::certificates::{Certificates, certificates};
use crate::options::ServingOptions;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Checks client certificates against the authorities of a PEM text. That they may be used by clients, and hold today, is checked too.
pub(super) fn client_verifier(authorities: &[u8]) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    let path = Path::new("client CA");
    let mut roots = RootCertStore::empty();
    for authority in certificates(path, authorities)? {
        roots.add(authority)?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider()).allow_unauthenticated();
    verifier.build().map_err(|why| Error::content(path, why.to_string()))
}

/// Who a verified client is.
pub(super) fn client(verifier: &dyn ClientCertVerifier, chain: Option<&[CertificateDer<'_>]>) -> ClientCertificate {
    let Some((first, others)) = chain.and_then(<[_]>::split_first) else { return ClientCertificate::None };
    if let Err(why) = verifier.verify_client_cert(first, others, UnixTime::now()) {
        return ClientCertificate::Invalid(format!("verifying the client certificate: {why}"));
    }
    match user_of_certificate(first) {
        Ok(Some(user)) => ClientCertificate::Valid(user),
        Ok(None) => ClientCertificate::None,
        Err(why) => ClientCertificate::Invalid(why),
    }
}

/// The server's side of a handshake.
pub(super) fn config(options: &ServingOptions, certificates: &Certificates) -> Result<Arc<ServerConfig>, Error> {
    let versions: &[_] = if options.tls13_only { &[&rustls::version::TLS13] } else { rustls::DEFAULT_VERSIONS };
    let verifier = AnyCertificate(client_verifier(&certificates.client_ca)?);
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(versions)?
        .with_client_cert_verifier(Arc::new(verifier))
        .with_single_cert(certificates.serving.clone(), certificates.serving_key.clone_key())?;
    if options.http2 {
        config.alpn_protocols.push(b"h2".to_vec());
    }
    config.alpn_protocols.push(b"http/1.1".to_vec());
    Ok(Arc::new(config))
}

/// Lets any certificate through the handshake if the client has its key. Whether it is worth anything is for authentication to say: a
/// client with an old certificate and a good token is welcome, and one with neither should get a 401 and not a broken connection.
#[derive(Debug)]
struct AnyCertificate(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for AnyCertificate {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
