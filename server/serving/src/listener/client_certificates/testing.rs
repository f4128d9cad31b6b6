//! CAs and client certificates for tests.

use std::sync::atomic::{AtomicU64, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use time::OffsetDateTime;

use super::*;
use crate::certificates::KeyPairPem;

/// The validity of certificates where it does not matter.
pub const ALWAYS: (u64, u64) = (0, 4_000_000_000);

/// A CA that signs client certificates.
pub struct TestAuthority {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl TestAuthority {
    pub fn new(name: &str, validity: (u64, u64)) -> Self {
        let mut params = parameters(name, validity);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        TestAuthority { issuer: Issuer::from_ca_cert_pem(&pem, key).unwrap(), pem }
    }

    /// The chain of a new client certificate.
    pub fn issue(&self, name: &str, validity: (u64, u64)) -> Vec<CertificateDer<'static>> {
        let mut params = parameters(name, validity);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        vec![params.signed_by(&KeyPair::generate().unwrap(), &self.issuer).unwrap().der().clone()]
    }
}

fn parameters(name: &str, (begin, end): (u64, u64)) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = OffsetDateTime::from_unix_timestamp(begin as i64).unwrap();
    params.not_after = OffsetDateTime::from_unix_timestamp(end as i64).unwrap();
    params
}

/// The CAs of clients and, optionally, of front proxies.
pub fn authorities(clients: &TestAuthority, proxies: Option<&TestAuthority>) -> Authorities {
    let contents = TlsContents {
        serving: KeyPairPem { path: "".into(), key_path: "".into(), certificate: Vec::new(), key: Vec::new() },
        sni: Vec::new(),
        client_ca: clients.pem.clone().into_bytes(),
        proxy_ca: proxies.map(|proxies| proxies.pem.clone().into_bytes()),
        ca_paths: ("".into(), proxies.map(|_| "".into())),
    };
    Authorities::new(&contents, &Arc::new(rustls::crypto::ring::default_provider())).unwrap()
}

/// A clock that the test controls.
pub fn clock(now: &Arc<AtomicU64>) -> UnixClock {
    let now = now.clone();
    Arc::new(move || now.load(Ordering::Relaxed))
}
