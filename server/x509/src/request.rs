//! Requests for certificates (PKCS#10).

use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;

use crate::{Malformed, PublicKey};

/// A request for a certificate.
#[derive(Clone, Debug)]
pub struct CertificateRequest {
    pub public_key: PublicKey,
    /// Whether it was signed with the key that it asks a certificate for. Curve P-521 is not known to ring.
    pub is_signed: bool,
    /// What the subject says that it belongs to.
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
        let organizations = said.subject.iter_organization().filter_map(|of| of.as_str().ok()).map(str::to_owned);
        let is_signed = request.verify_signature().is_ok();
        Ok(CertificateRequest { public_key, is_signed, organizations: organizations.collect() })
    }
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
