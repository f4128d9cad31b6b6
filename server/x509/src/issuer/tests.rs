use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P384_SHA384, PKCS_ED25519,
    SanType, SignatureAlgorithm,
};
use x509_parser::extensions::GeneralName;

use super::*;
use crate::Certificate;

const DAY: i64 = 24 * 60 * 60;
/// 2026-01-01.
const NOW: i64 = 1_767_225_600;
const CLIENT_AUTH: &[u64] = &[1, 3, 6, 1, 5, 5, 7, 3, 2];

fn authority(algorithm: &'static SignatureAlgorithm) -> (String, String) {
    let key = KeyPair::generate_for(algorithm).unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

fn issuer(algorithm: &'static SignatureAlgorithm) -> (Issuer, String) {
    let (certificate, key) = authority(algorithm);
    (Issuer::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap(), certificate)
}

/// A request of a client with names of all kinds.
fn request() -> Vec<u8> {
    let mut params = CertificateParams::new(vec!["a.example.com".to_owned(), "10.0.0.1".to_owned()]).unwrap();
    params.subject_alt_names.push(SanType::IpAddress("::1".parse().unwrap()));
    params.subject_alt_names.push(SanType::Rfc822Name("a@example.com".try_into().unwrap()));
    params.subject_alt_names.push(SanType::URI("spiffe://a".try_into().unwrap()));
    params.distinguished_name.push(DnType::OrganizationName, "dev");
    params.serialize_request(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
}

fn profile() -> CertificateProfile {
    let extended_key_usages = vec![CLIENT_AUTH];
    CertificateProfile { key_usages: vec![0, 2], extended_key_usages, not_before: NOW, not_after: NOW + DAY }
}

#[test]
fn certificates_verify_with_keys_of_all_kinds() {
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384, &PKCS_ED25519] {
        let (issuer, authority) = issuer(algorithm);
        let der = issuer.issue(&CertificateRequest::parse(&request()).unwrap(), &profile()).unwrap();
        let (rest, issued) = X509Certificate::from_der(&der).unwrap();
        let authority = crate::blocks(&authority).next().unwrap().bytes;
        let (_, authority) = X509Certificate::from_der(&authority).unwrap();
        assert!(rest.is_empty());
        issued.verify_signature(Some(authority.public_key())).unwrap();
        assert_eq!(issued.issuer(), authority.subject());
    }
}

#[test]
fn certificate_has_subject_key_and_names_of_request_and_usages_of_profile() {
    let (issuer, _) = issuer(&rcgen::PKCS_ECDSA_P256_SHA256);
    let request = CertificateRequest::parse(&request()).unwrap();
    let der = issuer.issue(&request, &profile()).unwrap();
    let (_, issued) = X509Certificate::from_der(&der).unwrap();
    assert_eq!(issued.subject().as_raw(), request.subject);
    assert_eq!(issued.public_key().raw, request.key_info);
    let validity = issued.validity();
    assert_eq!((validity.not_before.timestamp(), validity.not_after.timestamp()), (NOW, NOW + DAY));
    let usage = issued.key_usage().unwrap().unwrap();
    assert!(usage.critical && usage.value.digital_signature() && usage.value.key_encipherment());
    assert!(!usage.value.key_cert_sign() && !usage.value.non_repudiation());
    let extended = issued.extended_key_usage().unwrap().unwrap().value;
    assert!(extended.client_auth && !extended.server_auth && !extended.any);
    assert!(!issued.basic_constraints().unwrap().unwrap().value.ca);
    let names = &issued.subject_alternative_name().unwrap().unwrap().value.general_names;
    let wanted = [
        GeneralName::DNSName("a.example.com"),
        GeneralName::RFC822Name("a@example.com"),
        GeneralName::IPAddress(&[10, 0, 0, 1]),
        GeneralName::IPAddress(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        GeneralName::URI("spiffe://a"),
    ];
    assert_eq!(names[..], wanted);
    assert!(!Certificate::parse(&der).unwrap().is_ca);
}

#[test]
fn serial_numbers_differ_and_distant_dates_are_encoded() {
    let (issuer, _) = issuer(&rcgen::PKCS_ECDSA_P256_SHA256);
    let request = CertificateRequest::parse(&request()).unwrap();
    let late = CertificateProfile { not_after: NOW + 36_500 * DAY, key_usages: Vec::new(), ..profile() };
    let all: Vec<_> = (0..2).map(|_| issuer.issue(&request, &late).unwrap()).collect();
    let parsed: Vec<_> = all.iter().map(|der| X509Certificate::from_der(der).unwrap().1).collect();
    assert_ne!(parsed[0].serial, parsed[1].serial);
    assert_eq!(parsed[0].validity().not_after.timestamp(), late.not_after);
    assert!(parsed[0].key_usage().unwrap().is_none());
    let endless = CertificateProfile { not_after: i64::MAX, ..profile() };
    assert_eq!(issuer.issue(&request, &endless), Err(IssuerError::Validity));
}

#[test]
fn request_without_its_key_gets_no_certificate() {
    let (issuer, _) = issuer(&rcgen::PKCS_ECDSA_P256_SHA256);
    let mut der = request();
    let at = der.windows(9).position(|text| text == b"a.example").unwrap();
    der[at] = b'b';
    let changed = CertificateRequest::parse(&der).unwrap();
    assert_eq!(issuer.issue(&changed, &profile()), Err(IssuerError::Signature));
}

#[test]
fn unusable_authorities_are_refused() {
    let ((certificate, key), (other, _)) = (authority(&PKCS_ED25519), authority(&PKCS_ED25519));
    let refused = |certificate: &str, key: &str| Issuer::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap_err();
    assert_eq!(refused(&other, &key), IssuerError::OtherKey);
    assert_eq!(refused(&format!("{certificate}{other}"), &key), IssuerError::Certificate);
    assert_eq!(refused("", &key), IssuerError::Certificate);
    assert_eq!(refused(&certificate, "secret"), IssuerError::Key);
    let text = format!("{:?}", Issuer::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap());
    assert!(text.starts_with("Issuer { not_after:") && text.len() < 60, "{text}");
}
