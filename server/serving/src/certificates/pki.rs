//! The server's own authority, and the certificates it signs.

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

/// How long the authority holds.
const AUTHORITY_LIFE: Duration = Duration::days(3650);
/// How long what it signs holds.
const LEAF_LIFE: Duration = Duration::days(365);
/// A certificate with less left than this is replaced.
const RENEW_BEFORE: Duration = Duration::days(30);
/// Clocks differ: a certificate holds from a little before it was made.
const CLOCK_SKEW: Duration = Duration::hours(1);

/// Common names of the authority and of serving certificates.
const AUTHORITY: &str = "kubernetes";
const SERVER: &str = "kube-apiserver";

/// An authority, with its key.
pub(super) struct Authority {
    directory: PathBuf,
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
    key_id: Vec<u8>,
}

/// What a certificate is for.
pub(super) enum Purpose<'a> {
    /// A server with these DNS names and addresses.
    Server { names: &'a [String] },
    /// A user in these groups.
    Client { name: &'a str, groups: &'a [&'a str] },
}

impl Authority {
    /// The authority of a name in a directory, such as `ca.crt` and `ca.key`; made when there is none, or when it is about to expire.
    pub(super) fn load_or_make(directory: &Path, name: &str) -> Result<Self, Error> {
        let path = |extension: &str| directory.join(format!("{name}.{extension}"));
        let (certificate_path, key_path) = (path("crt"), path("key"));
        let lives = |pem: &[u8]| inspect(pem, |certificate| lasts(certificate, LEAF_LIFE)).unwrap_or(false);
        let found = certificate_path.exists() && key_path.exists();
        let (certificate, key) =
            match found.then(|| Ok::<_, Error>((read(&certificate_path)?, read(&key_path)?))).transpose()? {
                Some(pair) if lives(&pair.0) => pair,
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
            .map_err(|why| Error::content(&key_path, format!("not the private key of an authority: {why}")))?;
        let issuer = Issuer::from_ca_cert_pem(&certificate, pair)?;
        Ok(Authority { directory: directory.to_owned(), certificate, issuer, key_id })
    }

    /// The authority's certificate.
    pub(super) fn certificate_pem(&self) -> &str {
        &self.certificate
    }

    /// Certificate and key of this name, in PEM; made unless those of an earlier start still do.
    pub(super) fn issue(&self, name: &str, purpose: &Purpose<'_>) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let path = |extension: &str| self.directory.join(format!("{name}.{extension}"));
        let (certificate_path, key_path) = (path("crt"), path("key"));
        if let (Ok(certificate), Ok(key)) = (fs::read(&certificate_path), fs::read(&key_path))
            && inspect(&certificate, |found| self.still_does(found, purpose)).unwrap_or(false)
        {
            return Ok((certificate, key));
        }
        let key = KeyPair::generate()?;
        let certificate = parameters(purpose)?.signed_by(&key, &self.issuer)?.pem();
        write(&key_path, key.serialize_pem().as_bytes(), SECRET)?;
        write(&certificate_path, certificate.as_bytes(), PUBLIC)?;
        Ok((certificate.into_bytes(), key.serialize_pem().into_bytes()))
    }

    /// Whether certificate and key of this name are there and were not made by [`Self::issue`]: an administrator put
    /// them there.
    ///
    /// # Errors
    /// When one of the two is there without the other.
    pub(super) fn is_given(&self, name: &str) -> Result<bool, Error> {
        let path = |extension: &str| self.directory.join(format!("{name}.{extension}"));
        let (certificate_path, key_path) = (path("crt"), path("key"));
        match (certificate_path.exists(), key_path.exists()) {
            (true, true) => {
                let certificate = read(&certificate_path)?;
                Ok(!inspect(&certificate, is_made_here).unwrap_or(false))
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

    fn still_does(&self, found: &X509Certificate<'_>, purpose: &Purpose<'_>) -> bool {
        let fits = match purpose {
            Purpose::Server { names } => alternative_names(found) == names.iter().cloned().collect(),
            Purpose::Client { name, .. } => found.subject().iter_common_name().any(|cn| cn.as_str() == Ok(*name)),
        };
        fits && lasts(found, RENEW_BEFORE) && authority_key_id(found) == Some(self.key_id.clone())
    }
}

fn self_signed(common_name: &str) -> Result<(String, String), Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    hold_for(&mut params, AUTHORITY_LIFE);
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
    hold_for(&mut params, LEAF_LIFE);
    Ok(params)
}

fn hold_for(params: &mut CertificateParams, life: Duration) {
    let now = OffsetDateTime::now_utc();
    params.not_before = now - CLOCK_SKEW;
    params.not_after = now + life;
}

/// Looks at the first certificate of a PEM text.
fn inspect<T>(pem: &[u8], look: impl FnOnce(&X509Certificate<'_>) -> T) -> Option<T> {
    let (_, pem) = parse_x509_pem(pem).ok()?;
    Some(look(&pem.parse_x509().ok()?))
}

fn lasts(certificate: &X509Certificate<'_>, at_least: Duration) -> bool {
    let now = OffsetDateTime::now_utc();
    certificate.validity().not_before.to_datetime() <= now
        && certificate.validity().not_after.to_datetime() - now > at_least
}

/// Whether a serving certificate was made by this program, also with an earlier authority: names and life are those
/// of [`parameters`].
fn is_made_here(certificate: &X509Certificate<'_>) -> bool {
    let validity = certificate.validity();
    let life = validity.not_after.to_datetime() - validity.not_before.to_datetime();
    let is_named = |name: &X509Name<'_>, expect: &str| name.iter_common_name().any(|cn| cn.as_str() == Ok(expect));
    life == LEAF_LIFE + CLOCK_SKEW
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
