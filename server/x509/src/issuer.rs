//! Issues certificates for requests (upstream: `pkg/controller/certificates/authority`).
//!
//! Subject and public key are copied from the request as they are encoded, so that the certificate
//! has what was checked. No extension is copied: the alternative names are encoded again, and all
//! other extensions are those of a certificate that is no authority.

use std::fmt;
use std::net::IpAddr;

use ring::rand::{SecureRandom, SystemRandom};
use rustls::SignatureScheme;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{Signer, SigningKey};
use time::OffsetDateTime;
use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::{FromDer, X509Certificate};
use yasna::models::{GeneralizedTime, ObjectIdentifier, UTCTime};
use yasna::{DERWriter, Tag};

use crate::{AlternativeNames, CertificateRequest, IssuerError};

/// The schemes that keys of authorities sign with.
const SCHEMES: [SignatureScheme; 4] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::ED25519,
];
const KEY_USAGE: &[u64] = &[2, 5, 29, 15];
const ALTERNATIVE_NAMES: &[u64] = &[2, 5, 29, 17];
const BASIC_CONSTRAINTS: &[u64] = &[2, 5, 29, 19];
const AUTHORITY_KEY_ID: &[u64] = &[2, 5, 29, 35];
const EXTENDED_KEY_USAGE: &[u64] = &[2, 5, 29, 37];
/// The encoded version of certificates with extensions.
const VERSION_3: u8 = 2;
/// Length of serial numbers in bytes.
const SERIAL: usize = 16;
/// Dates from this year on are generalized times.
const FIRST_GENERALIZED_YEAR: i32 = 2050;

/// What a certificate may be used for, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateProfile {
    /// The numbers of the bits of the extension `keyUsage`.
    pub key_usages: Vec<u8>,
    /// The object identifiers of the extension `extKeyUsage`, in their order.
    pub extended_key_usages: Vec<&'static [u64]>,
    /// In seconds since 1970.
    pub not_before: i64,
    /// In seconds since 1970.
    pub not_after: i64,
}

/// A certificate authority with its private key.
pub struct Issuer {
    /// The encoded subject.
    name: Vec<u8>,
    key_id: Option<Vec<u8>>,
    not_after: i64,
    signer: Box<dyn Signer>,
}

impl fmt::Debug for Issuer {
    /// Omits the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer").field("not_after", &self.not_after).finish_non_exhaustive()
    }
}

impl Issuer {
    /// Reads the certificate and the private key of an authority, in PEM.
    ///
    /// # Errors
    /// One of them is unusable, or they do not belong together.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, IssuerError> {
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
        let Ok([certificate]) = <[_; 1]>::try_from(found.map_err(|_| IssuerError::Certificate)?) else {
            return Err(IssuerError::Certificate);
        };
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| IssuerError::Key)?;
        let key = rustls::crypto::ring::sign::any_supported_type(&key).map_err(|_| IssuerError::Key)?;
        let (_, parsed) = X509Certificate::from_der(&certificate).map_err(|_| IssuerError::Certificate)?;
        Self::of(&parsed, key.as_ref())
    }

    fn of(certificate: &X509Certificate<'_>, key: &dyn SigningKey) -> Result<Self, IssuerError> {
        let public = certificate.public_key().raw;
        if key.public_key().is_none_or(|of_key| of_key.as_ref() != public) {
            return Err(IssuerError::OtherKey);
        }
        Ok(Issuer {
            name: certificate.subject().as_raw().to_vec(),
            key_id: subject_key_id(certificate),
            not_after: certificate.validity().not_after.timestamp(),
            signer: key.choose_scheme(&SCHEMES).ok_or(IssuerError::Key)?,
        })
    }

    /// When the certificate of the authority expires, in seconds since 1970.
    pub fn not_after(&self) -> i64 {
        self.not_after
    }

    /// Issues a certificate, in DER.
    ///
    /// # Errors
    /// The request is not signed with its key, has malformed names, or signing fails.
    pub fn issue(&self, request: &CertificateRequest, profile: &CertificateProfile) -> Result<Vec<u8>, IssuerError> {
        if !request.is_signed {
            return Err(IssuerError::Signature);
        }
        let names = request.names.as_ref().map_err(|_| IssuerError::Names)?;
        let validity = [moment(profile.not_before)?, moment(profile.not_after)?];
        let (algorithm, serial) = (self.algorithm()?, serial()?);
        let content = yasna::construct_der(|writer| {
            writer.write_sequence(|writer| {
                writer.next().write_tagged(Tag::context(0), |writer| writer.write_u8(VERSION_3));
                writer.next().write_bigint_bytes(&serial, true);
                writer.next().write_der(&algorithm);
                writer.next().write_der(&self.name);
                writer.next().write_sequence(|writer| validity.iter().for_each(|at| write_time(writer.next(), *at)));
                writer.next().write_der(&request.subject);
                writer.next().write_der(&request.key_info);
                let extensions = self.extensions(names, profile, is_empty_sequence(&request.subject));
                writer.next().write_tagged(Tag::context(3), |writer| {
                    writer.write_sequence_of(|writer| extensions.iter().for_each(|one| writer.next().write_der(one)));
                });
            });
        });
        let signature = self.signer.sign(&content).map_err(|_| IssuerError::Signing)?;
        Ok(yasna::construct_der(|writer| {
            writer.write_sequence(|writer| {
                writer.next().write_der(&content);
                writer.next().write_der(&algorithm);
                writer.next().write_bitvec_bytes(&signature, signature.len() * 8);
            });
        }))
    }

    /// The encoded identifier of the signature algorithm.
    fn algorithm(&self) -> Result<Vec<u8>, IssuerError> {
        use rustls::pki_types::alg_id;
        let fields = match self.signer.scheme() {
            SignatureScheme::ECDSA_NISTP256_SHA256 => alg_id::ECDSA_SHA256,
            SignatureScheme::ECDSA_NISTP384_SHA384 => alg_id::ECDSA_SHA384,
            SignatureScheme::RSA_PKCS1_SHA256 => alg_id::RSA_PKCS1_SHA256,
            SignatureScheme::ED25519 => alg_id::ED25519,
            _ => return Err(IssuerError::Key),
        };
        // The constants lack the tag and the length of the sequence.
        Ok(yasna::construct_der(|writer| writer.write_sequence(|writer| writer.next().write_der(fields.as_ref()))))
    }

    /// The encoded extensions in Go's order.
    fn extensions(&self, names: &AlternativeNames, profile: &CertificateProfile, is_unnamed: bool) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        if let Some(last) = profile.key_usages.iter().max() {
            let bits = key_usage_bits(&profile.key_usages, *last);
            let value = yasna::construct_der(|writer| writer.write_bitvec_bytes(&bits, usize::from(*last) + 1));
            all.push(extension(KEY_USAGE, true, &value));
        }
        if !profile.extended_key_usages.is_empty() {
            let value = yasna::construct_der(|writer| {
                writer.write_sequence_of(|writer| {
                    profile.extended_key_usages.iter().for_each(|id| writer.next().write_oid(&identifier(id)));
                });
            });
            all.push(extension(EXTENDED_KEY_USAGE, false, &value));
        }
        all.push(extension(BASIC_CONSTRAINTS, true, &yasna::construct_der(|writer| writer.write_sequence(|_| {}))));
        if let Some(id) = &self.key_id {
            let value = yasna::construct_der(|writer| {
                writer.write_sequence(|writer| write_implicit(writer.next(), 0, id));
            });
            all.push(extension(AUTHORITY_KEY_ID, false, &value));
        }
        if !names.is_empty() {
            all.push(extension(ALTERNATIVE_NAMES, is_unnamed, &encode_names(names)));
        }
        all
    }
}

fn subject_key_id(certificate: &X509Certificate<'_>) -> Option<Vec<u8>> {
    certificate.extensions().iter().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
        _ => None,
    })
}

/// Whether a name has no attributes.
fn is_empty_sequence(name: &[u8]) -> bool {
    name == [0x30, 0]
}

fn identifier(components: &[u64]) -> ObjectIdentifier {
    ObjectIdentifier::from_slice(components)
}

/// A random positive number of at most 127 bits.
fn serial() -> Result<[u8; SERIAL], IssuerError> {
    let mut bytes = [0; SERIAL];
    SystemRandom::new().fill(&mut bytes).map_err(|_| IssuerError::Signing)?;
    bytes[0] &= 0x7f;
    Ok(bytes)
}

fn moment(seconds: i64) -> Result<OffsetDateTime, IssuerError> {
    let at = OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| IssuerError::Validity)?;
    if (1950..10_000).contains(&at.year()) { Ok(at) } else { Err(IssuerError::Validity) }
}

fn write_time(writer: DERWriter<'_>, at: OffsetDateTime) {
    if at.year() < FIRST_GENERALIZED_YEAR {
        writer.write_utctime(&UTCTime::from_datetime(at));
    } else {
        writer.write_generalized_time(&GeneralizedTime::from_datetime(at));
    }
}

/// Bit strings begin with the highest bit of the first byte, and end with the last bit that is set.
fn key_usage_bits(usages: &[u8], last: u8) -> Vec<u8> {
    let mut bits = vec![0; usize::from(last / 8) + 1];
    for usage in usages {
        if let Some(byte) = bits.get_mut(usize::from(usage / 8)) {
            *byte |= 0x80 >> (usage % 8);
        }
    }
    bits
}

fn extension(id: &[u64], is_critical: bool, value: &[u8]) -> Vec<u8> {
    yasna::construct_der(|writer| {
        writer.write_sequence(|writer| {
            writer.next().write_oid(&identifier(id));
            if is_critical {
                writer.next().write_bool(true);
            }
            writer.next().write_bytes(value);
        });
    })
}

/// Writes bytes with an implicit tag of the context.
fn write_implicit(writer: DERWriter<'_>, tag: u64, bytes: &[u8]) {
    writer.write_tagged_implicit(Tag::context(tag), |writer| writer.write_bytes(bytes));
}

fn encode_names(names: &AlternativeNames) -> Vec<u8> {
    let texts =
        |tag: u64, texts: &[String]| texts.iter().map(|text| (tag, text.clone().into_bytes())).collect::<Vec<_>>();
    let addresses = names.ips.iter().map(|ip| match ip {
        IpAddr::V4(ip) => (7, ip.octets().to_vec()),
        IpAddr::V6(ip) => (7, ip.octets().to_vec()),
    });
    // The order is Go's.
    let all = texts(2, &names.dns).into_iter().chain(texts(1, &names.emails)).chain(addresses);
    let all: Vec<(u64, Vec<u8>)> = all.chain(texts(6, &names.uris)).collect();
    yasna::construct_der(|writer| {
        writer
            .write_sequence_of(|writer| all.iter().for_each(|(tag, bytes)| write_implicit(writer.next(), *tag, bytes)));
    })
}

#[cfg(test)]
mod tests;
