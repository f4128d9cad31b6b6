//! Alternative names of subjects.

use std::net::IpAddr;

use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};

use crate::Malformed;

/// The alternative names of a request, of the kinds that Go's `crypto/x509` knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlternativeNames {
    /// DNS names.
    pub dns: Vec<String>,
    /// Email addresses.
    pub emails: Vec<String>,
    /// IP addresses.
    pub ips: Vec<IpAddr>,
    /// URIs.
    pub uris: Vec<String>,
}

impl AlternativeNames {
    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        *self == AlternativeNames::default()
    }

    /// Reads the names that a request has in its extensions.
    pub(crate) fn requested(request: &X509CertificationRequest<'_>) -> Result<Self, Malformed> {
        let mut names = None;
        for extension in request.requested_extensions().into_iter().flatten() {
            match extension {
                ParsedExtension::SubjectAlternativeName(found) if names.is_none() => {
                    names = Some(Self::of(&found.general_names)?);
                }
                ParsedExtension::SubjectAlternativeName(_) | ParsedExtension::ParseError { .. } => {
                    return Err(Malformed);
                }
                _ => {}
            }
        }
        Ok(names.unwrap_or_default())
    }

    fn of(general: &[GeneralName<'_>]) -> Result<Self, Malformed> {
        let mut names = AlternativeNames::default();
        for name in general {
            match name {
                GeneralName::DNSName(name) => names.dns.push(ascii(name)?),
                GeneralName::RFC822Name(name) => names.emails.push(ascii(name)?),
                GeneralName::URI(name) => names.uris.push(ascii(name)?),
                GeneralName::IPAddress(bytes) => names.ips.push(address(bytes)?),
                GeneralName::Invalid(..) => return Err(Malformed),
                // As in Go, names of other kinds are skipped.
                _ => {}
            }
        }
        Ok(names)
    }
}

/// A text of an `IA5String`.
fn ascii(text: &str) -> Result<String, Malformed> {
    if text.is_ascii() { Ok(text.to_owned()) } else { Err(Malformed) }
}

fn address(bytes: &[u8]) -> Result<IpAddr, Malformed> {
    match (<[u8; 4]>::try_from(bytes), <[u8; 16]>::try_from(bytes)) {
        (Ok(bytes), _) => Ok(bytes.into()),
        (_, Ok(bytes)) => Ok(bytes.into()),
        _ => Err(Malformed),
    }
}
