//! Certificate signing requests (PKCS#10).

use x509_parser::asn1_rs::{Any, Tag};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;
use x509_parser::x509::AttributeTypeAndValue;

use crate::{AlternativeNames, Malformed, PublicKey};

/// A certificate signing request.
#[derive(Clone, Debug)]
pub struct CertificateRequest {
    pub public_key: PublicKey,
    /// Whether the signature verifies with the key in the request. ring does not support curve
    /// P-521.
    pub is_signed: bool,
    /// The subject's common name; the last one if there are several, as in Go. Empty if there is
    /// none.
    pub common_name: String,
    /// The organizations of the subject.
    pub organizations: Vec<String>,
    /// The requested alternative names. A request with malformed names cannot be approved or signed.
    pub names: Result<AlternativeNames, Malformed>,
    /// Subject and public key as they are encoded.
    pub(crate) subject: Vec<u8>,
    pub(crate) key_info: Vec<u8>,
}

impl CertificateRequest {
    /// Parses one request without trailing data.
    pub fn parse(der: &[u8]) -> Result<Self, Malformed> {
        let (rest, request) = X509CertificationRequest::from_der(der).map_err(|_| Malformed)?;
        if !rest.is_empty() {
            return Err(Malformed);
        }
        let info = &request.certification_request_info;
        let public_key = PublicKey::of(&info.subject_pki)?;
        let organizations = texts(info.subject.iter_organization())?;
        let common_name = texts(info.subject.iter_common_name())?.pop().unwrap_or_default();
        let is_signed = request.verify_signature().is_ok();
        Ok(CertificateRequest {
            public_key,
            is_signed,
            common_name,
            organizations,
            names: AlternativeNames::requested(&request),
            subject: info.subject.as_raw().to_vec(),
            key_info: info.subject_pki.raw.to_vec(),
        })
    }
}

/// The values of an attribute type. As in Go, non-string values are skipped.
fn texts<'a>(values: impl Iterator<Item = &'a AttributeTypeAndValue<'a>>) -> Result<Vec<String>, Malformed> {
    values.filter_map(|value| text(value.attr_value()).transpose()).collect()
}

/// Decodes a string in any of the encodings of Go's `encoding/asn1`, so that a signer and this
/// server see the same name.
fn text(value: &Any<'_>) -> Result<Option<String>, Malformed> {
    let utf8 = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Malformed);
    match value.tag() {
        Tag::Utf8String => utf8(value.data).map(Some),
        Tag::PrintableString | Tag::NumericString | Tag::Ia5String if value.data.is_ascii() => {
            utf8(value.data).map(Some)
        }
        Tag::PrintableString | Tag::NumericString | Tag::Ia5String => Err(Malformed),
        // Go decodes the bytes as Latin-1.
        Tag::T61String => Ok(Some(value.data.iter().copied().map(char::from).collect())),
        Tag::BmpString => bmp(value.data).map(Some),
        _ => Ok(None),
    }
}

/// Decodes big-endian UTF-16. As in Go, a trailing zero is dropped.
fn bmp(bytes: &[u8]) -> Result<String, Malformed> {
    let (units, []) = bytes.as_chunks::<2>() else { return Err(Malformed) };
    let units: Vec<u16> = units.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
    let units = units.strip_suffix(&[0]).unwrap_or(&units);
    String::from_utf16(units).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Certificate, KeyKind, blocks};
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair};

    #[test]
    fn request_and_certificate_have_same_key() {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["a.example.com".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::OrganizationName, "dev");
        let request = params.serialize_request(&key).unwrap();
        let request = CertificateRequest::parse(request.der()).unwrap();
        assert_eq!(request.organizations, ["dev"]);
        assert!(request.is_signed && request.public_key.kind == KeyKind::Ecdsa("P-256"));

        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let signed = params.self_signed(&key).unwrap();
        let certificate = Certificate::parse(signed.der()).unwrap();
        assert!(certificate.is_ca && certificate.dns_names == ["a.example.com"]);
        assert_eq!(certificate.public_key, request.public_key);
        assert_eq!(PublicKey::parse(&blocks(&key.public_key_pem()).next().unwrap().bytes).unwrap(), request.public_key);
    }

    #[test]
    fn rejects_malformed_requests_and_certificates() {
        assert!(CertificateRequest::parse(b"x").is_err() && Certificate::parse(b"").is_err());
        assert!(Certificate::parse_all(b"").unwrap().is_empty());
    }

    #[test]
    fn rejects_signature_of_changed_request() {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["a.example.com".to_owned()]).unwrap();
        let mut der = params.serialize_request(&key).unwrap().der().to_vec();
        let at = der.windows(9).position(|text| text == b"a.example").unwrap();
        der[at] = b'b';
        assert!(!CertificateRequest::parse(&der).unwrap().is_signed);
    }
}
