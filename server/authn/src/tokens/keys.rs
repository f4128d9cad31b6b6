//! Signing and verification keys of tokens.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use options::Algorithm;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use rustls::SignatureScheme;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo;

use crate::Error;

const P256: &str = "1.2.840.10045.3.1.7";
const P384: &str = "1.3.132.0.34";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Numbers {
    /// Modulus and exponent, big-endian, without leading zeros.
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point.
    P256(Vec<u8>),
    P384(Vec<u8>),
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// The key ID (`kid`): the hash of the key, unless its publisher assigned another ID.
    pub id: String,
    numbers: Numbers,
}

impl VerifyingKey {
    /// Parses the keys of a PEM file: public keys, certificates, or the public halves of private keys
    /// (`keyutil.PublicKeysFromFile`).
    ///
    /// # Errors
    /// When the file has no key, or an unsupported one.
    pub fn from_pem(pem: &[u8]) -> Result<Vec<Self>, Error> {
        let mut keys = Vec::new();
        for block in Pem::iter_from_buffer(pem) {
            let block = block?;
            keys.extend(Self::of_block(&block)?);
        }
        if keys.is_empty() { Err(Error::NoPublicKeys) } else { Ok(keys) }
    }

    /// Parses the key of a PEM block; `None` for other blocks, such as curve parameters.
    fn of_block(block: &Pem) -> Result<Option<Self>, Error> {
        let der = block.contents.as_slice();
        match block.label.as_str() {
            "PUBLIC KEY" | "RSA PUBLIC KEY" => Self::from_spki(der).map(Some),
            "CERTIFICATE" => {
                let (_, certificate) = X509Certificate::from_der(der)?;
                Self::from_spki(certificate.public_key().raw).map(Some)
            }
            "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY" => {
                SigningKey::of_block(block).map(|key| key.map(|key| key.public))
            }
            _ => Ok(None),
        }
    }

    /// Parses a DER-encoded `SubjectPublicKeyInfo`.
    pub(super) fn from_spki(der: &[u8]) -> Result<Self, Error> {
        let (_, info) = SubjectPublicKeyInfo::from_der(der)?;
        let curve = info.algorithm.parameters.as_ref().and_then(|p| p.as_oid().ok()).map(|oid| oid.to_id_string());
        let numbers = match (info.parsed()?, curve.as_deref()) {
            (PublicKey::RSA(key), _) => {
                Numbers::Rsa { n: without_zeros(key.modulus).to_vec(), e: without_zeros(key.exponent).to_vec() }
            }
            (PublicKey::EC(point), Some(P256)) => Numbers::P256(point.data().to_vec()),
            (PublicKey::EC(point), Some(P384)) => Numbers::P384(point.data().to_vec()),
            _ => return Err(Error::KeyType),
        };
        Ok(VerifyingKey { id: URL_SAFE_NO_PAD.encode(Sha256::digest(der)), numbers })
    }

    /// Replaces the key ID.
    pub(super) fn with_id(self, id: String) -> Self {
        VerifyingKey { id, ..self }
    }

    /// The algorithm for service account tokens with this key (`algorithmFromPublicKey`).
    pub fn algorithm(&self) -> Algorithm {
        match self.numbers {
            Numbers::Rsa { .. } => Algorithm::RS256,
            Numbers::P256(_) => Algorithm::ES256,
            Numbers::P384(_) => Algorithm::ES384,
        }
    }

    /// Returns the key as a JSON web key.
    pub fn jwk(&self) -> Value {
        let text = |bytes: &[u8]| Value::from(URL_SAFE_NO_PAD.encode(bytes));
        let mut jwk = Map::new();
        jwk.insert("use".into(), "sig".into());
        let (kty, curve, point) = match &self.numbers {
            Numbers::Rsa { .. } => ("RSA", None, &[][..]),
            Numbers::P256(point) => ("EC", Some("P-256"), point.as_slice()),
            Numbers::P384(point) => ("EC", Some("P-384"), point.as_slice()),
        };
        jwk.insert("kty".into(), kty.into());
        jwk.insert("kid".into(), self.id.clone().into());
        if let Some(curve) = curve {
            jwk.insert("crv".into(), curve.into());
        }
        jwk.insert("alg".into(), self.algorithm().name().into());
        if let Numbers::Rsa { n, e } = &self.numbers {
            jwk.insert("n".into(), text(n));
            jwk.insert("e".into(), text(e));
        } else if let Some((_, coordinates)) = point.split_first() {
            let (x, y) = coordinates.split_at(coordinates.len() / 2);
            jwk.insert("x".into(), text(x));
            jwk.insert("y".into(), text(y));
        }
        json!(jwk)
    }

    /// Parses a key set (`{"keys": [..]}`). Skips unsupported keys, as RFC 7517 requires.
    pub fn from_jwk_set(set: &Value) -> Vec<Self> {
        set["keys"].as_array().map(|keys| keys.iter().filter_map(Self::from_jwk).collect()).unwrap_or_default()
    }

    fn from_jwk(jwk: &Value) -> Option<Self> {
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(jwk[name].as_str()?.trim_end_matches('=')).ok();
        let point = |size: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            (x.len() == size && y.len() == size).then(|| [&[4][..], &x, &y].concat())
        };
        if jwk["use"].as_str().is_some_and(|usage| usage != "sig") {
            return None;
        }
        let numbers = match (jwk["kty"].as_str()?, jwk["crv"].as_str()) {
            ("RSA", _) => {
                Numbers::Rsa { n: without_zeros(&bytes("n")?).to_vec(), e: without_zeros(&bytes("e")?).to_vec() }
            }
            ("EC", Some("P-256")) => Numbers::P256(point(32)?),
            ("EC", Some("P-384")) => Numbers::P384(point(48)?),
            _ => return None,
        };
        Some(VerifyingKey { id: jwk["kid"].as_str().unwrap_or("").to_owned(), numbers })
    }

    /// Whether the signature of a message is valid for this key and algorithm.
    pub fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let by_point = |parameters, point: &[u8]| UnparsedPublicKey::new(parameters, point).verify(message, signature);
        let verified = match (&self.numbers, algorithm) {
            (Numbers::Rsa { n, e }, algorithm) => match rsa_parameters(algorithm) {
                Some(parameters) => RsaPublicKeyComponents { n, e }.verify(parameters, message, signature),
                None => return false,
            },
            (Numbers::P256(point), Algorithm::ES256) => by_point(&signature::ECDSA_P256_SHA256_FIXED, point),
            (Numbers::P384(point), Algorithm::ES384) => by_point(&signature::ECDSA_P384_SHA384_FIXED, point),
            _ => return false,
        };
        verified.is_ok()
    }
}

fn rsa_parameters(algorithm: Algorithm) -> Option<&'static signature::RsaParameters> {
    match algorithm {
        Algorithm::RS256 => Some(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Some(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Some(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Some(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Some(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Some(&signature::RSA_PSS_2048_8192_SHA512),
        Algorithm::ES256 | Algorithm::ES384 => None,
    }
}

fn without_zeros(number: &[u8]) -> &[u8] {
    &number[number.iter().take_while(|byte| **byte == 0).count()..]
}

/// A private key.
pub struct SigningKey {
    key: Arc<dyn rustls::sign::SigningKey>,
    pub public: VerifyingKey,
}

impl SigningKey {
    /// Parses the first private key of a PEM file (`keyutil.PrivateKeyFromFile`).
    ///
    /// # Errors
    /// When the file has no key, or an unsupported one.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        for block in Pem::iter_from_buffer(pem) {
            let block = block?;
            if let Some(key) = Self::of_block(&block)? {
                return Ok(key);
            }
        }
        Err(Error::NoPrivateKey)
    }

    fn of_block(block: &Pem) -> Result<Option<Self>, Error> {
        let der = block.contents.clone();
        let der = match block.label.as_str() {
            "PRIVATE KEY" => PrivateKeyDer::Pkcs8(der.into()),
            "RSA PRIVATE KEY" => PrivateKeyDer::Pkcs1(der.into()),
            "EC PRIVATE KEY" => PrivateKeyDer::Sec1(der.into()),
            _ => return Ok(None),
        };
        let key = rustls::crypto::ring::sign::any_supported_type(&der)?;
        let public = key.public_key().ok_or(Error::NoPublicKey)?;
        let public = VerifyingKey::from_spki(&public)?;
        Ok(Some(SigningKey { key, public }))
    }

    /// Signs a message with the algorithm of the key.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let (scheme, size) = match self.public.algorithm() {
            Algorithm::ES256 => (SignatureScheme::ECDSA_NISTP256_SHA256, Some(32)),
            Algorithm::ES384 => (SignatureScheme::ECDSA_NISTP384_SHA384, Some(48)),
            _ => (SignatureScheme::RSA_PKCS1_SHA256, None),
        };
        let signer = self.key.choose_scheme(&[scheme]).ok_or(Error::SigningAlgorithm)?;
        let signed = signer.sign(message)?;
        match size {
            None => Ok(signed),
            Some(size) => fixed(&signed, size).ok_or(Error::SignatureForm),
        }
    }
}

impl std::fmt::Debug for SigningKey {
    /// Omits the private key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.public.id).finish_non_exhaustive()
    }
}

/// Converts an ECDSA signature from DER, a sequence of two integers, to the fixed-size form of JWS.
fn fixed(der: &[u8], size: usize) -> Option<Vec<u8>> {
    let integer = |der: &[u8]| -> Option<(Vec<u8>, usize)> {
        let [2, length, rest @ ..] = der else { return None };
        let number = without_zeros(rest.get(..usize::from(*length))?);
        let mut padded = vec![0; size.checked_sub(number.len())?];
        padded.extend_from_slice(number);
        Some((padded, 2 + usize::from(*length)))
    };
    let [0x30, length, rest @ ..] = der else { return None };
    let rest = rest.get(..usize::from(*length))?;
    let (mut r, used) = integer(rest)?;
    let (s, _) = integer(&rest[used..])?;
    r.extend(s);
    Some(r)
}
