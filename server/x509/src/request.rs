//! Requests for certificates (PKCS#10).

use x509_parser::asn1_rs::{Any, Tag};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;
use x509_parser::x509::AttributeTypeAndValue;

use crate::{Malformed, PublicKey};

/// A request for a certificate.
#[derive(Clone, Debug)]
pub struct CertificateRequest {
    pub public_key: PublicKey,
    /// Whether it was signed with the key that it asks a certificate for. Curve P-521 is not known to ring.
    pub is_signed: bool,
    /// The subject's common name; the last one where there are several, as Go has it. Empty when there is none.
    pub common_name: String,
    /// The organizations of the subject.
    pub organizations: Vec<String>,
}

impl CertificateRequest {
    /// Reads one request, and nothing after it.
    pub fn parse(der: &[u8]) -> Result<Self, Malformed> {
        let (rest, request) = X509CertificationRequest::from_der(der).map_err(|_| Malformed)?;
        if !rest.is_empty() {
            return Err(Malformed);
        }
        let said = &request.certification_request_info;
        let public_key = PublicKey::of(&said.subject_pki)?;
        let organizations = texts(said.subject.iter_organization())?;
        let common_name = texts(said.subject.iter_common_name())?.pop().unwrap_or_default();
        let is_signed = request.verify_signature().is_ok();
        Ok(CertificateRequest { public_key, is_signed, common_name, organizations })
    }
}

/// The values of a kind of attribute. Values that are no text are left out, as Go does.
fn texts<'a>(values: impl Iterator<Item = &'a AttributeTypeAndValue<'a>>) -> Result<Vec<String>, Malformed> {
    values.filter_map(|value| text(value.attr_value()).transpose()).collect()
}

/// A text in any of the encodings that Go's `encoding/asn1` reads: a signer must not see another name than this server.
fn text(value: &Any<'_>) -> Result<Option<String>, Malformed> {
    let utf8 = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Malformed);
    match value.tag() {
        Tag::Utf8String => utf8(value.data).map(Some),
        Tag::PrintableString | Tag::NumericString | Tag::Ia5String if value.data.is_ascii() => {
            utf8(value.data).map(Some)
        }
        Tag::PrintableString | Tag::NumericString | Tag::Ia5String => Err(Malformed),
        // Go takes the bytes as Latin-1.
        Tag::T61String => Ok(Some(value.data.iter().copied().map(char::from).collect())),
        Tag::BmpString => bmp(value.data).map(Some),
        _ => Ok(None),
    }
}

/// UTF-16, the high byte first. Go drops zeros at the end.
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
    fn a_request_and_its_certificate_hold_one_key() {
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
    fn what_is_no_request_is_refused() {
        assert!(CertificateRequest::parse(b"x").is_err() && Certificate::parse(b"").is_err());
        assert!(Certificate::parse_all(b"").unwrap().is_empty());
    }

    #[test]
    fn a_changed_request_is_not_signed() {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["a.example.com".to_owned()]).unwrap();
        let mut der = params.serialize_request(&key).unwrap().der().to_vec();
        let at = der.windows(9).position(|text| text == b"a.example").unwrap();
        der[at] = b'b';
        assert!(!CertificateRequest::parse(&der).unwrap().is_signed);
    }
}
