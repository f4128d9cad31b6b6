//! Flags of TLS (upstream: `SecureServingOptions`, `cliflag.TLSCipherSuites`).

use std::path::PathBuf;

use rustls::{CipherSuite, NamedGroup};

use crate::error::{FlagError, ValueError};
use crate::values::FlagValues;

/// A serving certificate for SNI names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SniCertificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// Names, of which `*.example.com` matches all with one more label; empty means those in the
    /// certificate.
    pub names: Vec<String>,
}

/// The supported cipher suites, by the names of Go's crypto/tls. Each has forward secrecy and
/// authenticated encryption.
const SUITES: &[(&str, CipherSuite)] = &[
    ("TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_AES_256_GCM_SHA384", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("TLS_CHACHA20_POLY1305_SHA256", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
    ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
];
/// Suites that Go supports and this server does not: they lack forward secrecy, or their ciphers
/// are broken or error-prone.
const WEAK_SUITES: &[&str] = &[
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_RSA_WITH_RC4_128_SHA",
];
/// The supported key exchange groups, by number.
const GROUPS: &[(&str, NamedGroup)] =
    &[("23", NamedGroup::secp256r1), ("24", NamedGroup::secp384r1), ("29", NamedGroup::X25519)];

impl FlagValues {
    /// Whether TLS 1.2 is rejected.
    pub(super) fn tls13_only(&self) -> Result<bool, FlagError> {
        match self.text("tls-min-version") {
            "" | "VersionTLS12" => Ok(false),
            "VersionTLS13" => Ok(true),
            old @ ("VersionTLS10" | "VersionTLS11") => {
                Err(self.invalid("tls-min-version", ValueError::OldTls { version: old.to_owned() }))
            }
            other => Err(self.invalid("tls-min-version", ValueError::UnknownTls { version: other.to_owned() })),
        }
    }

    /// The cipher suites in the flag; empty means all. Those of TLS 1.3 are accepted but have no
    /// effect.
    pub(super) fn cipher_suites(&self) -> Result<Vec<CipherSuite>, FlagError> {
        let flag = "tls-cipher-suites";
        let suite = |name: &str| match SUITES.iter().find(|(known, _)| *known == name) {
            Some((_, suite)) => Ok(*suite),
            None if WEAK_SUITES.contains(&name) => {
                let supported: Vec<&str> = SUITES.iter().map(|(known, _)| *known).collect();
                let supported = supported.join(", ");
                Err(self.invalid(flag, ValueError::WeakCipherSuite { name: name.to_owned(), supported }))
            }
            None => Err(self.invalid(flag, ValueError::CipherSuite { name: name.to_owned() })),
        };
        self.list(flag).into_iter().map(suite).collect()
    }

    /// The key exchange groups in order of preference; empty means all.
    pub(super) fn key_exchange_groups(&self) -> Result<Vec<NamedGroup>, FlagError> {
        let flag = "tls-curve-preferences";
        let group = |number: &str| match GROUPS.iter().find(|(known, _)| *known == number) {
            Some((_, group)) => Ok(*group),
            None => Err(self.invalid(flag, ValueError::KeyExchangeGroup { number: number.to_owned() })),
        };
        self.list(flag).into_iter().map(group).collect()
    }

    /// `certificate,key` or `certificate,key:name,name`, once per flag (`NamedCertKey`).
    pub(super) fn sni_certificates(&self) -> Result<Vec<SniCertificate>, FlagError> {
        let flag = "tls-sni-cert-key";
        let certificate = |text: &String| {
            let (files, names) = text.split_once(':').unwrap_or((text, ""));
            match files.split_once(',').map(|(certificate, key)| (certificate.trim(), key.trim())) {
                Some((certificate, key)) if !certificate.is_empty() && !key.is_empty() && !key.contains(',') => {
                    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                    let names = names.map(str::to_ascii_lowercase).collect();
                    Ok(SniCertificate { certificate: certificate.into(), key: key.into(), names })
                }
                _ => Err(self.invalid(flag, ValueError::SniCertificate)),
            }
        };
        self.repeated(flag).iter().map(certificate).collect()
    }
}
