//! The certificate authorities of the server, and the certificates that they issue.

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::X509Certificate;
use x509_parser::x509::X509Name;

use super::files::{PUBLIC, SECRET, read, write};
use crate::Error;

/// The validity of a certificate authority.
const CA_LIFETIME: Duration = Duration::days(3650);
/// The validity of an issued certificate.
const LEAF_LIFETIME: Duration = Duration::days(365);
/// An issued certificate is renewed if it expires within this time.
const RENEW_BEFORE: Duration = Duration::days(30);
/// The validity of a certificate begins this long before it is issued, to tolerate clock skew.
const CLOCK_SKEW: Duration = Duration::hours(1);

/// What to do about an authority whose files are damaged.
const REMEDY: &str =
    "; restore it, or remove both files of the authority: the server then makes a new one, which clients must trust";

/// The common names of the certificate authority and of serving certificates.
const AUTHORITY: &str = "kubernetes";
const SERVER: &str = "kube-apiserver";

/// A certificate authority with its key.
pub(super) struct Authority {
    directory: PathBuf,
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
    key_id: Vec<u8>,
}

/// The purpose of a certificate.
pub(super) enum Purpose<'a> {
    /// A server with these DNS names and addresses.
    Server { names: &'a [String] },
    /// A user in these groups.
    Client { name: &'a str, groups: &'a [&'a str] },
}

impl Authority {
    /// Loads a certificate authority from files of a directory, such as `ca.crt` and `ca.key`.
    ///
    /// Creates it if it is missing, or if it expires before a certificate that it would issue now.
    pub(super) fn load_or_create(directory: &Path, name: &str) -> Result<Self, Error> {
        let path = |extension: &str| directory.join(format!("{name}.{extension}"));
        let (certificate_path, key_path) = (path("crt"), path("key"));
        let is_valid =
            |pem: &[u8]| inspect(pem, |certificate| is_valid_for(certificate, LEAF_LIFETIME)).unwrap_or(false);
        let found = certificate_path.exists() && key_path.exists();
        let (certificate, key) =
            match found.then(|| Ok::<_, Error>((read(&certificate_path)?, read(&key_path)?))).transpose()? {
                Some(pair) if is_valid(&pair.0) => pair,
                _ => {
                    let (certificate, key) = self_signed(if name == "ca" { AUTHORITY } else { name })?;
                    write(&key_path, key.as_bytes(), SECRET)?;
                    write(&certificate_path, certificate.as_bytes(), PUBLIC)?;
                    (certificate.into_bytes(), key.into_bytes())
                }
            };
        let text = |bytes: Vec<u8>, path: &Path| String::from_utf8(bytes).map_err(|_| Error::content(path, "not PEM"));
        let (certificate, key) = (text(certificate, &certificate_path)?, text(key, &key_path)?);
        let key_id = inspect(certificate.as_bytes(), subject_key_id).flatten();
        let key_id = key_id
            .ok_or_else(|| Error::content(&certificate_path, "not a certificate with a subject key identifier"))?;
        let pair = KeyPair::from_pem(&key)
            .map_err(|why| Error::content(&key_path, format!("not the private key of an authority: {why}{REMEDY}")))?;
        let issuer = Issuer::from_ca_cert_pem(&certificate, pair)?;
        Ok(Authority { directory: directory.to_owned(), certificate, issuer, key_id })
    }

    /// Returns the certificate of the authority, in PEM.
    pub(super) fn certificate_pem(&self) -> &str {
        &self.certificate
    }

    /// Returns certificate and key of this name, in PEM. Existing ones are reused if they are still suitable.
    pub(super) fn issue(&self, name: &str, purpose: &Purpose<'_>) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let path = |extension: &str| self.directory.join(format!("{name}.{extension}"));
        let (certificate_path, key_path) = (path("crt"), path("key"));
        if let (Ok(certificate), Ok(key)) = (fs::read(&certificate_path), fs::read(&key_path))
            && inspect(&certificate, |found| self.is_suitable(found, purpose)).unwrap_or(false)
        {
            return Ok((certificate, key));
        }
        let key = KeyPair::generate()?;
        let certificate = parameters(purpose)?.signed_by(&key, &self.issuer)?.pem();
        write(&key_path, key.serialize_pem().as_bytes(), SECRET)?;
        write(&certificate_path, certificate.as_bytes(), PUBLIC)?;
        Ok((certificate.into_bytes(), key.serialize_pem().into_bytes()))
    }

    /// Whether certificate and key of this name exist and were not issued by [`Self::issue`] but provided by an
    /// administrator.
    ///
    /// # Errors
    /// When only one of the two exists.
    pub(super) fn is_user_provided(&self, name: &str) -> Result<bool, Error> {
        let path = |extension: &str| self.directory.join(format!("{name}.{extension}"));
        let (certificate_path, key_path) = (path("crt"), path("key"));
        match (certificate_path.exists(), key_path.exists()) {
            (true, true) => {
                let certificate = read(&certificate_path)?;
                Ok(!inspect(&certificate, is_issued_by_this_server).unwrap_or(false))
            }
            (false, false) => Ok(false),
            (true, false) => {
                let why = "there is no key beside the certificate: add it, or remove the certificate";
                Err(Error::content(&certificate_path, why))
            }
            (false, true) => {
                let why = "there is no certificate beside the key: add it, or remove the key";
                Err(Error::content(&key_path, why))
            }
        }
    }

    fn is_suitable(&self, found: &X509Certificate<'_>, purpose: &Purpose<'_>) -> bool {
        let matches = match purpose {
            Purpose::Server { names } => alternative_names(found) == names.iter().cloned().collect(),
            Purpose::Client { name, .. } => found.subject().iter_common_name().any(|cn| cn.as_str() == Ok(*name)),
        };
        matches && is_valid_for(found, RENEW_BEFORE) && authority_key_id(found) == Some(self.key_id.clone())
    }
}

fn self_signed(common_name: &str) -> Result<(String, String), Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut params, CA_LIFETIME);
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?.pem(), key.serialize_pem()))
}

fn parameters(purpose: &Purpose<'_>) -> Result<CertificateParams, Error> {
    let mut params = CertificateParams::default();
    let mut subject = DistinguishedName::new();
    match purpose {
        Purpose::Server { names } => {
            params = CertificateParams::new(names.to_vec())?;
            subject.push(DnType::CommonName, SERVER);
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        }
        Purpose::Client { name, groups } => {
            groups.iter().for_each(|group| subject.push(DnType::OrganizationName, *group));
            subject.push(DnType::CommonName, *name);
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        }
    }
    params.distinguished_name = subject;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    set_validity(&mut params, LEAF_LIFETIME);
    Ok(params)
}

fn set_validity(params: &mut CertificateParams, lifetime: Duration) {
    let now = OffsetDateTime::now_utc();
    params.not_before = now - CLOCK_SKEW;
    params.not_after = now + lifetime;
}

/// Applies a function to the first certificate of a PEM text.
fn inspect<T>(pem: &[u8], inspector: impl FnOnce(&X509Certificate<'_>) -> T) -> Option<T> {
    let (_, pem) = parse_x509_pem(pem).ok()?;
    Some(inspector(&pem.parse_x509().ok()?))
}

/// Whether the certificate is valid now and for more than `at_least`.
fn is_valid_for(certificate: &X509Certificate<'_>, at_least: Duration) -> bool {
    let now = OffsetDateTime::now_utc();
    certificate.validity().not_before.to_datetime() <= now
        && certificate.validity().not_after.to_datetime() - now > at_least
}

/// Whether this program issued a serving certificate, possibly with an earlier authority.
///
/// Such a certificate has the names and the validity of [`parameters`].
fn is_issued_by_this_server(certificate: &X509Certificate<'_>) -> bool {
    let validity = certificate.validity();
    let lifetime = validity.not_after.to_datetime() - validity.not_before.to_datetime();
    let is_named = |name: &X509Name<'_>, expect: &str| name.iter_common_name().any(|cn| cn.as_str() == Ok(expect));
    lifetime == LEAF_LIFETIME + CLOCK_SKEW
        && is_named(certificate.subject(), SERVER)
        && is_named(certificate.issuer(), AUTHORITY)
}

fn subject_key_id(certificate: &X509Certificate<'_>) -> Option<Vec<u8>> {
    certificate.extensions().iter().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
        _ => None,
    })
}

fn authority_key_id(certificate: &X509Certificate<'_>) -> Option<Vec<u8>> {
    certificate.extensions().iter().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::AuthorityKeyIdentifier(id) => Some(id.key_identifier.as_ref()?.0.to_vec()),
        _ => None,
    })
}

fn alternative_names(certificate: &X509Certificate<'_>) -> BTreeSet<String> {
    let names = certificate.subject_alternative_name().ok().flatten();
    let text = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => <[u8; 4]>::try_from(*bytes).ok().map(|b| IpAddr::from(b).to_string()),
            _ => <[u8; 16]>::try_from(*bytes).ok().map(|b| IpAddr::from(b).to_string()),
        },
        _ => None,
    };
    names.map(|names| names.value.general_names.iter().filter_map(text).collect()).unwrap_or_default()
}
