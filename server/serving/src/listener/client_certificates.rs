//! Client certificate authentication, verified for each request with the current time and CAs.
//!
//! Upstream: `x509.Authenticator`, which also verifies the chain for each request.
//!
//! A connection caches the last result with the generation of the CAs and its period of validity.
//! For most requests the check is a comparison of numbers.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use authn::user_of_certificate;
use request::ClientCertificate;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{DistinguishedName, RootCertStore};
use telemetry::metrics::credentials::certificate_used;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::Error;
use crate::certificates::{TlsContents, certificates};
use crate::error::VerificationError;

/// Returns the time in seconds since 1970.
pub(crate) type UnixClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The system clock.
pub(super) fn system_clock() -> UnixClock {
    Arc::new(|| UnixTime::now().as_secs())
}

/// The verifier of one kind of client certificate.
struct Verifier {
    verifier: Arc<dyn ClientCertVerifier>,
    authorities: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn new(path: &Path, pem: &[u8], provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let authorities = certificates(path, pem)?;
        let verifier = verifier(&authorities, provider).map_err(|why| Error::content(path, why))?;
        Ok(Verifier { verifier, authorities, provider: provider.clone() })
    }

    /// Returns the user of a chain at this time.
    ///
    /// Expired CAs are ignored, as in Go. webpki does not check the validity of trust anchors, so
    /// they are filtered here.
    fn verify(&self, chain: &[CertificateDer<'static>], now: u64) -> ClientCertificate {
        let Some((first, intermediates)) = chain.split_first() else { return ClientCertificate::None };
        let valid: Vec<_> = self.authorities.iter().filter(|der| is_valid(der, now)).cloned().collect();
        let verifier = match valid.len() == self.authorities.len() {
            true => Ok(self.verifier.clone()),
            false => verifier(&valid, &self.provider),
        };
        let time = UnixTime::since_unix_epoch(Duration::from_secs(now));
        let verified = verifier.and_then(|verifier| Ok(verifier.verify_client_cert(first, intermediates, time)?));
        if let Err(why) = verified {
            return ClientCertificate::Invalid(format!("verifying the client certificate: {why}"));
        }
        match user_of_certificate(first) {
            Ok(Some(user)) => ClientCertificate::of(user),
            Ok(None) => ClientCertificate::None,
            Err(why) => ClientCertificate::Invalid(why.to_string()),
        }
    }
}

/// Creates a verifier of client certificates that these CAs have signed.
fn verifier(
    authorities: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, VerificationError> {
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority.clone())?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    Ok(builder.allow_unauthenticated().build()?)
}

/// The first and the last second of a certificate's validity.
fn validity(der: &CertificateDer<'_>) -> Option<(u64, u64)> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let [begin, end] = [certificate.validity().not_before, certificate.validity().not_after]
        .map(|time| u64::try_from(time.timestamp()).unwrap_or_default());
    Some((begin, end))
}

fn is_valid(der: &CertificateDer<'_>, now: u64) -> bool {
    validity(der).is_some_and(|(begin, end)| (begin..=end).contains(&now))
}

/// The CAs of clients and of front proxies.
pub(crate) struct Authorities {
    clients: Verifier,
    proxies: Option<Verifier>,
}

impl Authorities {
    /// Creates the verifiers from the contents of the files.
    ///
    /// # Errors
    /// A file contains no CA.
    pub fn new(contents: &TlsContents, provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let (of_clients, of_proxies) = &contents.ca_paths;
        let clients = Verifier::new(of_clients, &contents.client_ca, provider)?;
        let proxies = contents.proxy_ca.as_deref().zip(of_proxies.as_deref());
        let proxies = proxies.map(|(pem, path)| Verifier::new(path, pem, provider)).transpose()?;
        Ok(Authorities { clients, proxies })
    }

    /// The subjects of all CAs: Go clients present a certificate only if the server lists its CA.
    pub fn names(&self) -> Vec<DistinguishedName> {
        let all = std::iter::once(&self.clients).chain(&self.proxies);
        all.flat_map(|verifier| verifier.verifier.root_hint_subjects()).cloned().collect()
    }

    fn of(&self, role: Role) -> Option<&Verifier> {
        match role {
            Role::Client => Some(&self.clients),
            Role::Proxy => self.proxies.as_ref(),
        }
    }
}

/// The use of a certificate.
#[derive(Clone, Copy)]
enum Role {
    Client,
    Proxy,
}

/// The current CAs, shared by all connections.
pub(crate) struct CurrentAuthorities {
    /// The number of replacements.
    generation: AtomicU64,
    current: RwLock<(u64, Arc<Authorities>)>,
    clock: UnixClock,
}

impl CurrentAuthorities {
    pub fn new(authorities: Authorities, clock: UnixClock) -> Self {
        CurrentAuthorities { generation: AtomicU64::new(0), current: RwLock::new((0, Arc::new(authorities))), clock }
    }

    /// Replaces the CAs, for open connections as well.
    pub fn replace(&self, authorities: Authorities) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = (current.0 + 1, Arc::new(authorities));
        self.generation.store(current.0, Ordering::Release);
    }

    fn get(&self) -> (u64, Arc<Authorities>) {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The certificate that a client presented, with its chain.
pub(crate) struct PresentedCertificate {
    chain: Vec<CertificateDer<'static>>,
    /// The end of the client certificate's validity.
    end: u64,
    authorities: Arc<CurrentAuthorities>,
    /// The last results, by role.
    results: [Mutex<Option<VerificationResult>>; 2],
}

/// The result for a generation of CAs. It is valid for the times in `from..until`.
struct VerificationResult {
    generation: u64,
    from: u64,
    until: u64,
    certificate: ClientCertificate,
}

impl PresentedCertificate {
    /// Returns `None` when the client presented no certificate.
    pub fn new(chain: Option<&[CertificateDer<'_>]>, authorities: &Arc<CurrentAuthorities>) -> Option<Self> {
        let chain: Vec<_> = chain?.iter().map(|der| der.clone().into_owned()).collect();
        let end = validity(chain.first()?).map_or(0, |(_, end)| end);
        Some(PresentedCertificate { chain, end, authorities: authorities.clone(), results: Default::default() })
    }

    /// The user that the certificate authenticates at this moment.
    pub fn client(&self) -> ClientCertificate {
        certificate_used(self.end, (self.authorities.clock)());
        self.verify(Role::Client)
    }

    /// The front proxy that the certificate authenticates at this moment.
    pub fn proxy(&self) -> ClientCertificate {
        self.verify(Role::Proxy)
    }

    fn verify(&self, role: Role) -> ClientCertificate {
        let generation = self.authorities.generation.load(Ordering::Acquire);
        let now = (self.authorities.clock)();
        let mut last = self.results[role as usize].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = &*last
            && result.generation == generation
            && (result.from..result.until).contains(&now)
        {
            return result.certificate.clone();
        }
        let (generation, authorities) = self.authorities.get();
        let Some(verifier) = authorities.of(role) else { return ClientCertificate::None };
        let certificate = verifier.verify(&self.chain, now);
        let (from, until) = self.span(verifier, now);
        *last = Some(VerificationResult { generation, from, until, certificate: certificate.clone() });
        certificate
    }

    /// The period around `now` in which no validity of a certificate of the chain or of a CA begins
    /// or ends.
    fn span(&self, verifier: &Verifier, now: u64) -> (u64, u64) {
        let mut span = (0, u64::MAX);
        for der in self.chain.iter().chain(&verifier.authorities) {
            // The validity of an unparsable certificate is unknown.
            let (begin, end) = validity(der).unwrap_or((now, now));
            for bound in [begin, end.saturating_add(1)] {
                match bound <= now {
                    true => span.0 = span.0.max(bound),
                    false => span.1 = span.1.min(bound),
                }
            }
        }
        span
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
