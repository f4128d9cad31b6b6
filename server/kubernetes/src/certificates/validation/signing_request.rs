//! Validation of certificate signing requests.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::json_name;
use meta::validate_whole_object_meta;
use x509::{Certificate, CertificateRequest};

use super::CERTIFICATE;
use generated::certificates::v1::{CertificateSigningRequestSpec, CertificateSigningRequestStatus};
use generated::meta::v1::ObjectMeta;

/// Validates the metadata. Hand-written, because the metadata of updates is validated as that of new
/// objects, with any name.
pub fn validate_request_metadata(v: &mut Validation<'_>, _: &Path<'_>, new: &ObjectMeta, _: Option<&ObjectMeta>) {
    validate_whole_object_meta(v, new, false, NameRule::Any);
}

/// Validates the request. Hand-written, because requests are parsed (`validateCSR`). Go's messages for
/// malformed ones are not reproduced.
pub fn validate_request(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &CertificateSigningRequestSpec,
    _: Option<&CertificateSigningRequestSpec>,
) {
    let request = &new.request;
    let block = std::str::from_utf8(request).ok().and_then(|text| x509::blocks(text).next());
    let block = block.filter(|block| block.label == "CERTIFICATE REQUEST");
    let why = match block.map(|block| CertificateRequest::parse(&block.bytes)) {
        None => "PEM block type must be CERTIFICATE REQUEST",
        Some(Err(_)) => "asn1: structure error: malformed certificate request",
        Some(Ok(request)) if !request.is_signed => "x509: signature over certificate request is invalid",
        Some(Ok(_)) => return,
    };
    let shown = if request.is_empty() { BadValue::None } else { BadValue::bytes(request) };
    v.invalid(&path.child(json_name!(CertificateSigningRequestSpec.request)), shown, why);
}

/// Validates the certificate. Hand-written, because certificates are parsed. Stored ones, and
/// replacements of malformed ones, are not validated.
pub fn validate_certificate(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &CertificateSigningRequestStatus,
    old: Option<&CertificateSigningRequestStatus>,
) {
    let is_tolerated = |old: &CertificateSigningRequestStatus| {
        old.certificate == new.certificate || refusal_of_certificates(&old.certificate).is_some()
    };
    if !old.is_some_and(is_tolerated)
        && let Some(why) = refusal_of_certificates(&new.certificate)
    {
        v.invalid(&path.child(json_name!(CertificateSigningRequestStatus.certificate)), "<certificate data>", why);
    }
}

/// `validateCertificate`
fn refusal_of_certificates(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    for block in x509::blocks(&text) {
        if block.label != CERTIFICATE {
            return Some(format!("only CERTIFICATE PEM blocks are allowed, found {:?}", block.label));
        }
        if block.has_headers {
            return Some("no PEM block headers are permitted".to_owned());
        }
        match Certificate::parse_all(&block.bytes) {
            Err(_) => return Some("x509: malformed certificate".to_owned()),
            Ok(found) if found.is_empty() => {
                return Some("found CERTIFICATE PEM block containing 0 certificates".to_owned());
            }
            Ok(_) => {}
        }
    }
    let none = !text.is_empty() && x509::blocks(&text).next().is_none();
    none.then(|| "must contain at least one CERTIFICATE PEM block".to_owned())
}
