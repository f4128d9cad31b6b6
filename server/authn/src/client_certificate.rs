//! Authentication by client certificate (upstream: `x509.CommonNameUserConversion`).
//!
//! The common name is the user name, the organizations are the groups.

use std::fmt::Write;

use request::User;
use sha2::{Digest, Sha256};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::x509::AttributeTypeAndValue;

use crate::Error;

/// The object identifier of the subject attribute for the user's UID.
const UID: &str = "1.3.6.1.4.1.57683.2";
/// The key of the extra field that identifies the credential.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Returns the user that a certificate names; `None` without a common name. The caller verifies the certificate.
///
/// # Errors
/// When the certificate is malformed, or its UID is ambiguous.
pub fn user_of_certificate(der: &[u8]) -> Result<Option<User>, Error> {
    let (_, certificate) = X509Certificate::from_der(der)?;
    let subject = certificate.subject();
    let text = |attribute: &AttributeTypeAndValue<'_>| attribute.as_str().unwrap_or_default().to_owned();
    let Some(name) = subject.iter_common_name().last().map(text).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let mut user = User::new(name, subject.iter_organization().map(text));
    let uids: Vec<String> =
        subject.iter_attributes().filter(|a| a.attr_type().to_id_string() == UID).map(text).collect();
    match uids.as_slice() {
        [] => {}
        [uid] if uid.is_empty() => return Err(Error::EmptyUid),
        [uid] => user.uid.clone_from(uid),
        _ => return Err(Error::SeveralUids(uids)),
    }
    user.extra.insert(CREDENTIAL_ID.into(), vec![format!("X509SHA256={}", hex(&Sha256::digest(der)))]);
    Ok(Some(user))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
