//! Certificates.

use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::{Malformed, PublicKey};

/// The fields of a certificate that validation uses.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// Whether it may sign other certificates.
    pub is_ca: bool,
    pub dns_names: Vec<String>,
    pub email_addresses: Vec<String>,
    /// In seconds since 1970.
    pub not_before: i64,
    /// In seconds since 1970.
    pub not_after: i64,
    pub public_key: PublicKey,
}

impl Certificate {
    /// Parses one certificate without trailing data.
    pub fn parse(der: &[u8]) -> Result<Self, Malformed> {
        let (rest, certificate) = X509Certificate::from_der(der).map_err(|_| Malformed)?;
        if !rest.is_empty() {
            return Err(Malformed);
        }
        let constraints = certificate.basic_constraints().map_err(|_| Malformed)?;
        let names = certificate.subject_alternative_name().map_err(|_| Malformed)?;
        let names = names.map_or(&[][..], |names| &names.value.general_names);
        let of_kind = |pick: fn(&GeneralName<'_>) -> Option<String>| names.iter().filter_map(pick).collect();
        Ok(Certificate {
            is_ca: constraints.is_some_and(|constraints| constraints.value.ca),
            dns_names: of_kind(|name| match name {
                GeneralName::DNSName(name) => Some((*name).to_owned()),
                _ => None,
            }),
            email_addresses: of_kind(|name| match name {
                GeneralName::RFC822Name(name) => Some((*name).to_owned()),
                _ => None,
            }),
            not_before: certificate.validity().not_before.timestamp(),
            not_after: certificate.validity().not_after.timestamp(),
            public_key: PublicKey::of(certificate.public_key())?,
        })
    }

    /// Parses concatenated certificates (Go's `x509.ParseCertificates`).
    pub fn parse_all(mut der: &[u8]) -> Result<Vec<Self>, Malformed> {
        let mut out = Vec::new();
        while !der.is_empty() {
            let (rest, _) = X509Certificate::from_der(der).map_err(|_| Malformed)?;
            out.push(Self::parse(&der[..der.len() - rest.len()])?);
            der = rest;
        }
        Ok(out)
    }
}
