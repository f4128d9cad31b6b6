//! Client certificates, judged at each request by the clock and the authorities of that moment (upstream:
//! `x509.Authenticator`, which verifies the chain for each request).
//!
//! A connection keeps its last verdict with the authorities and the span of time that it is good for, so that most
//! requests compare two numbers and verify nothing.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{DistinguishedName, RootCertStore};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::Error;
use crate::authentication::{ClientCertificate, user_of_certificate};
use crate::certificates::{TlsContents, certificates};
use crate::metrics::credentials::certificate_used;

/// Tells the time in seconds since 1970.
pub(crate) type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The clock of the machine.
pub(super) fn system_clock() -> Clock {
    Arc::new(|| UnixTime::now().as_secs())
}

/// The authorities of one kind of client.
struct Verifier {
    verifier: Arc<dyn ClientCertVerifier>,
    authorities: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn new(pem: &[u8], provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let path = Path::new("client CA");
        let authorities = certificates(path, pem)?;
        let verifier = verifier(&authorities, provider).map_err(|why| Error::content(path, why))?;
        Ok(Verifier { verifier, authorities, provider: provider.clone() })
    }

    /// The user of a chain at this time. Authorities that have expired count for nothing, as in Go; webpki takes
    /// authorities for valid at any time, so that they are left out here.
    fn judge(&self, chain: &[CertificateDer<'static>], now: u64) -> ClientCertificate {
        let Some((first, others)) = chain.split_first() else { return ClientCertificate::None };
        let valid: Vec<_> = self.authorities.iter().filter(|der| is_valid(der, now)).cloned().collect();
        let verifier = match valid.len() == self.authorities.len() {
            true => Ok(self.verifier.clone()),
            false => verifier(&valid, &self.provider),
        };
        let time = UnixTime::since_unix_epoch(Duration::from_secs(now));
        let verified = verifier
            .and_then(|verifier| verifier.verify_client_cert(first, others, time).map_err(|why| why.to_string()));
        if let Err(why) = verified {
            return ClientCertificate::Invalid(format!("verifying the client certificate: {why}"));
        }
        match user_of_certificate(first) {
            Ok(Some(user)) => ClientCertificate::of(user),
            Ok(None) => ClientCertificate::None,
            Err(why) => ClientCertificate::Invalid(why),
        }
    }
}

/// Verifies that certificates are signed by these authorities, may be used by clients and hold at a time.
fn verifier(
    authorities: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority.clone()).map_err(|why| why.to_string())?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    builder.allow_unauthenticated().build().map_err(|why| why.to_string())
}

/// The first and the last second of a certificate.
fn validity(der: &CertificateDer<'_>) -> Option<(u64, u64)> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let [begin, end] = [certificate.validity().not_before, certificate.validity().not_after]
        .map(|time| u64::try_from(time.timestamp()).unwrap_or_default());
    Some((begin, end))
}

fn is_valid(der: &CertificateDer<'_>, now: u64) -> bool {
    validity(der).is_some_and(|(begin, end)| (begin..=end).contains(&now))
}

/// The authorities of clients and of front proxies.
pub(crate) struct Authorities {
    clients: Verifier,
    proxies: Option<Verifier>,
}

impl Authorities {
    /// Of what the files hold.
    ///
    /// # Errors
    /// When a file holds no authority.
    pub fn new(contents: &TlsContents, provider: &Arc<CryptoProvider>) -> Result<Self, Error> {
        let clients = Verifier::new(&contents.client_ca, provider)?;
        let proxies = contents.proxy_ca.as_deref().map(|pem| Verifier::new(pem, provider)).transpose()?;
        Ok(Authorities { clients, proxies })
    }

    /// The names of all authorities: Go programs show a certificate only to servers that name its authority.
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

/// What a certificate is judged as.
#[derive(Clone, Copy)]
enum Role {
    Client,
    Proxy,
}

/// The authorities of this moment, which all connections share.
pub(crate) struct CurrentAuthorities {
    /// Counts the replacements.
    generation: AtomicU64,
    current: RwLock<(u64, Arc<Authorities>)>,
    clock: Clock,
}

impl CurrentAuthorities {
    pub fn new(authorities: Authorities, clock: Clock) -> Self {
        CurrentAuthorities { generation: AtomicU64::new(0), current: RwLock::new((0, Arc::new(authorities))), clock }
    }

    /// Judges certificates by these authorities from now on, those of open connections as well.
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
    /// When the client's own certificate ends.
    end: u64,
    authorities: Arc<CurrentAuthorities>,
    /// The last verdicts, by role.
    verdicts: [Mutex<Option<Verdict>>; 2],
}

/// What a certificate proves by the authorities of a generation, from a second until another one, which is excluded.
struct Verdict {
    generation: u64,
    from: u64,
    until: u64,
    certificate: ClientCertificate,
}

impl PresentedCertificate {
    /// None when the client presented no certificate.
    pub fn new(chain: Option<&[CertificateDer<'_>]>, authorities: &Arc<CurrentAuthorities>) -> Option<Self> {
        let chain: Vec<_> = chain?.iter().map(|der| der.clone().into_owned()).collect();
        let end = validity(chain.first()?).map_or(0, |(_, end)| end);
        Some(PresentedCertificate { chain, end, authorities: authorities.clone(), verdicts: Default::default() })
    }

    /// The user that the certificate proves at this moment.
    pub fn client(&self) -> ClientCertificate {
        certificate_used(self.end, (self.authorities.clock)());
        self.judge(Role::Client)
    }

    /// The front proxy that the certificate proves at this moment.
    pub fn proxy(&self) -> ClientCertificate {
        self.judge(Role::Proxy)
    }

    fn judge(&self, role: Role) -> ClientCertificate {
        let generation = self.authorities.generation.load(Ordering::Acquire);
        let now = (self.authorities.clock)();
        let mut last = self.verdicts[role as usize].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = &*last
            && verdict.generation == generation
            && (verdict.from..verdict.until).contains(&now)
        {
            return verdict.certificate.clone();
        }
        let (generation, authorities) = self.authorities.get();
        let Some(verifier) = authorities.of(role) else { return ClientCertificate::None };
        let certificate = verifier.judge(&self.chain, now);
        let (from, until) = self.span(verifier, now);
        *last = Some(Verdict { generation, from, until, certificate: certificate.clone() });
        certificate
    }

    /// The span of time around `now` in which no certificate of the chain and no authority begins or ends.
    fn span(&self, verifier: &Verifier, now: u64) -> (u64, u64) {
        let mut span = (0, u64::MAX);
        for der in self.chain.iter().chain(&verifier.authorities) {
            // A certificate that cannot be read may end at any time.
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
