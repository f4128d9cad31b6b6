//! The TLS configuration: server certificates and client certificate requests.

use std::collections::HashMap;
use std::sync::Arc;

use options::ServingOptions;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, DistinguishedName, InconsistentKeys, ServerConfig, SignatureScheme};
use tokio_rustls::TlsAcceptor;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

use super::client_certificates::Authorities;
use crate::Error;
use crate::certificates::{KeyPairPem, TlsContents, certificates, private_key};

/// The TLS configuration of handshakes. It is replaced when a file changes.
pub(super) struct TlsConfig {
    pub acceptor: TlsAcceptor,
}

impl TlsConfig {
    /// Creates the configuration from the flags and the contents of the files. Also returns the CAs
    /// for client certificates.
    pub fn new(options: &ServingOptions, contents: &TlsContents) -> Result<(Self, Authorities), Error> {
        let provider = provider(options);
        let authorities = Authorities::new(contents, &provider)?;
        let any =
            AnyCertificate { algorithms: provider.signature_verification_algorithms, authorities: authorities.names() };
        let versions: &[_] = if options.tls13_only { &[&rustls::version::TLS13] } else { rustls::DEFAULT_VERSIONS };
        let mut config = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)?
            .with_client_cert_verifier(Arc::new(any))
            .with_cert_resolver(Arc::new(SniResolver::new(contents, &provider)?));
        if options.http2 {
            config.alpn_protocols.push(b"h2".to_vec());
        }
        config.alpn_protocols.push(b"http/1.1".to_vec());
        Ok((TlsConfig { acceptor: TlsAcceptor::from(Arc::new(config)) }, authorities))
    }
}

/// The crypto provider: rustls' algorithms, restricted by the flags. As in Go, cipher suites of TLS
/// 1.3 cannot be selected.
fn provider(options: &ServingOptions) -> Arc<CryptoProvider> {
    let mut provider = rustls::crypto::ring::default_provider();
    let (suites, groups) = (&options.cipher_suites, &options.key_exchange_groups);
    if !suites.is_empty() {
        provider.cipher_suites.retain(|suite| suite.tls13().is_some() || suites.contains(&suite.suite()));
    }
    if !groups.is_empty() {
        let place = |group: rustls::NamedGroup| groups.iter().position(|wanted| *wanted == group);
        provider.kx_groups.retain(|group| place(group.name()).is_some());
        provider.kx_groups.sort_by_key(|group| place(group.name()));
    }
    Arc::new(provider)
}

/// Selects the server certificate by SNI name (upstream: `BuildNamedCertificates`).
#[derive(Debug)]
struct SniResolver {
    default: Arc<CertifiedKey>,
    /// In lower case; `*.example.com` matches all names with one more label.
    named: HashMap<String, Arc<CertifiedKey>>,
}

impl SniResolver {
    fn new(contents: &TlsContents, provider: &CryptoProvider) -> Result<Self, Error> {
        let default = Arc::new(certified(&contents.serving, provider)?);
        let (mut configured, mut found) = (HashMap::new(), HashMap::new());
        // The first pair with a name wins; configured names take precedence over those found in
        // certificates.
        for (pair, names) in &contents.sni {
            let key = Arc::new(certified(pair, provider)?);
            let into = if names.is_empty() { &mut found } else { &mut configured };
            let own = if names.is_empty() { names_of(&key) } else { names.clone() };
            for name in own {
                into.entry(name).or_insert_with(|| key.clone());
            }
        }
        found.extend(configured);
        Ok(SniResolver { default, named: found })
    }

    fn find(&self, name: &str) -> Option<&Arc<CertifiedKey>> {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let wildcard = || Some(format!("*.{}", name.split_once('.')?.1));
        self.named.get(&name).or_else(|| self.named.get(&wildcard()?))
    }
}

impl ResolvesServerCert for SniResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let named = hello.server_name().and_then(|name| self.find(name));
        Some(named.unwrap_or(&self.default).clone())
    }
}

fn certified(pair: &KeyPairPem, provider: &CryptoProvider) -> Result<CertifiedKey, Error> {
    let (chain, key) = (certificates(&pair.path, &pair.certificate)?, private_key(&pair.key_path, &pair.key)?);
    CertifiedKey::from_der(chain, key, provider).map_err(|why| match why {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            Error::content(&pair.key_path, format!("not the private key of the certificate {}", pair.path.display()))
        }
        other => Error::content(&pair.path, other),
    })
}

/// The names of a certificate that SNI can request; IP addresses are excluded.
fn names_of(key: &CertifiedKey) -> Vec<String> {
    let Some((_, certificate)) = key.cert.first().and_then(|der| X509Certificate::from_der(der).ok()) else {
        return Vec::new();
    };
    let is_name = |name: &&str| name.parse::<std::net::IpAddr>().is_err() && !name.is_empty();
    let common = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok()).filter(is_name);
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let alternative = alternative.iter().flat_map(|names| &names.value.general_names).filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(*name),
        _ => None,
    });
    common.chain(alternative).map(str::to_ascii_lowercase).collect()
}

/// Accepts any client certificate in the handshake if the client has its key.
///
/// Authentication verifies it for each request. A client with an expired certificate and a valid
/// token is accepted; without a token it gets a 401 instead of a failed handshake.
#[derive(Debug)]
struct AnyCertificate {
    algorithms: WebPkiSupportedAlgorithms,
    /// The subjects of the CAs of clients and of front proxies.
    authorities: Vec<DistinguishedName>,
}

impl ClientCertVerifier for AnyCertificate {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.authorities
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
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
