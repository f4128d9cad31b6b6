//! Public keys.

use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use x509_parser::oid_registry::Oid;
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey as Parsed;
use x509_parser::x509::SubjectPublicKeyInfo;

use crate::Malformed;

const ED25519: &str = "1.3.101.112";
const P256: &str = "1.2.840.10045.3.1.7";
const P384: &str = "1.3.132.0.34";
const P521: &str = "1.3.132.0.35";
const P224: &str = "1.3.132.0.33";

/// The algorithm of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Ed25519,
    /// The curve, by Go's name.
    Ecdsa(&'static str),
    /// The length of the modulus in bits.
    Rsa(usize),
    Other,
}

/// A public key. Two values are equal if they are the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    pub kind: KeyKind,
    /// The key without its algorithm identifier, as ring expects it.
    bytes: Vec<u8>,
}

impl PublicKey {
    /// Parses a PKIX `SubjectPublicKeyInfo`.
    pub fn parse(der: &[u8]) -> Result<Self, Malformed> {
        let (rest, info) = SubjectPublicKeyInfo::from_der(der).map_err(|_| Malformed)?;
        if !rest.is_empty() {
            return Err(Malformed);
        }
        Self::of(&info)
    }

    pub(crate) fn of(info: &SubjectPublicKeyInfo<'_>) -> Result<Self, Malformed> {
        let kind = if info.algorithm.algorithm.to_id_string() == ED25519 {
            KeyKind::Ed25519
        } else {
            match info.parsed().map_err(|_| Malformed)? {
                Parsed::RSA(key) => KeyKind::Rsa(key.key_size()),
                Parsed::EC(_) => curve(info)?,
                _ => KeyKind::Other,
            }
        };
        Ok(PublicKey { kind, bytes: info.subject_public_key.data.to_vec() })
    }

    /// Whether a signature of a message verifies with this key: with SHA-256, PSS for RSA. ring
    /// does not support curve P-521.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match self.kind {
            KeyKind::Ed25519 => &signature::ED25519,
            KeyKind::Ecdsa("P-256") => &signature::ECDSA_P256_SHA256_ASN1,
            KeyKind::Ecdsa("P-384") => &signature::ECDSA_P384_SHA256_ASN1,
            KeyKind::Rsa(_) => &signature::RSA_PSS_2048_8192_SHA256,
            _ => return false,
        };
        UnparsedPublicKey::new(algorithm, &self.bytes).verify(message, signature).is_ok()
    }
}

fn curve(info: &SubjectPublicKeyInfo<'_>) -> Result<KeyKind, Malformed> {
    let named = info.algorithm.parameters.as_ref().and_then(|any| Oid::try_from(any.clone()).ok());
    Ok(KeyKind::Ecdsa(match named.ok_or(Malformed)?.to_id_string().as_str() {
        P224 => "P-224",
        P256 => "P-256",
        P384 => "P-384",
        P521 => "P-521",
        _ => return Err(Malformed),
    }))
}
