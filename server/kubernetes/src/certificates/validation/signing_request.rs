//! Requests that people and nodes make.

use std::collections::{BTreeSet, HashSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use meta::{validate_whole_object_meta, validate_whole_object_meta_update};
use x509::{Certificate, CertificateRequest};

use super::CERTIFICATE;
use crate::core::validation::signer::validate_signer_name;
use generated::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec,
};

const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
/// How long a certificate has to last at least, in seconds.
const MIN_EXPIRATION: i32 = 600;

const APPROVED: &str = "Approved";
const DENIED: &str = "Denied";
const FAILED: &str = "Failed";
/// Conditions that are true or not there.
const ONLY_TRUE: [&str; 3] = [APPROVED, DENIED, FAILED];

#[rustfmt::skip]
const USAGES: [&str; 23] = [
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only",
    "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
    "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
];

/// `ValidateCertificateSigningRequestCreate` and what its subresources change.
pub fn validate_certificate_signing_request(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &CertificateSigningRequest,
    old: Option<&CertificateSigningRequest>,
) {
    validate_whole_object_meta(v, &new.metadata, false, NameRule::Any);
    validate_spec(v, &path.child("spec"), &new.spec, old.map(|old| &old.spec));
    let status = path.child("status");
    let stored = old.map_or(&[][..], |old| &old.status.conditions);
    validate_conditions(v, &status.child("conditions"), &new.status.conditions, stored);
    let stored = old.map(|old| &old.status.certificate);
    if stored != Some(&new.status.certificate)
        && stored.is_none_or(|stored| refusal_of_certificates(stored).is_none())
        && let Some(why) = refusal_of_certificates(&new.status.certificate)
    {
        v.invalid(&status.child("certificate"), "<certificate data>", why);
    }
    if let Some(old) = old {
        validate_change(v, &status, new, old);
        validate_whole_object_meta_update(v, &new.metadata, &old.metadata);
    }
}

/// What a stored request breaks, a change of it may go on breaking.
fn validate_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &CertificateSigningRequestSpec,
    old: Option<&CertificateSigningRequestSpec>,
) {
    if let Some(why) = refusal_of_request(&spec.request) {
        let shown = if spec.request.is_empty() { BadValue::None } else { BadValue::bytes(&spec.request) };
        v.invalid(&path.child("request"), shown, why);
    }
    let usages = path.child("usages");
    if spec.usages.is_empty() {
        v.required(&usages, "");
    }
    let is_unknown = |usage: &String| !USAGES.contains(&usage.as_str());
    if !old.is_some_and(|old| old.usages.iter().any(is_unknown)) {
        for (index, usage) in spec.usages.iter().enumerate() {
            v.one_of(&usages.index(index), usage, &USAGES);
        }
    }
    if old.is_none_or(|old| repeated(&old.usages).is_empty()) {
        for (index, usage) in repeated(&spec.usages) {
            v.duplicate(&usages.index(index), BadValue::json_string(usage));
        }
    }
    let signer = path.child("signerName");
    if spec.signer_name == LEGACY_SIGNER && old.is_none_or(|old| old.signer_name != LEGACY_SIGNER) {
        v.invalid(&signer, LEGACY_SIGNER, "the legacy signerName is not allowed via this API version");
    } else {
        validate_signer_name(v, &signer, &spec.signer_name);
    }
    if let Some(seconds) = spec.expiration_seconds.filter(|seconds| *seconds < MIN_EXPIRATION) {
        let detail = format!("may not specify a duration less than {MIN_EXPIRATION} seconds (10 minutes)");
        v.invalid(&path.child("expirationSeconds"), seconds, detail);
    }
}

/// The texts that were there before, with their places.
fn repeated<'t>(texts: impl IntoIterator<Item = &'t String>) -> Vec<(usize, &'t String)> {
    let mut seen = HashSet::new();
    texts.into_iter().enumerate().filter(|(_, text)| !seen.insert(*text)).collect()
}

/// `validateCSR`. What Go says of malformed requests is not imitated.
fn refusal_of_request(request: &[u8]) -> Option<&'static str> {
    let block = std::str::from_utf8(request).ok().and_then(|text| x509::blocks(text).next());
    match block
        .filter(|block| block.label == "CERTIFICATE REQUEST")
        .map(|block| CertificateRequest::parse(&block.bytes))
    {
        None => Some("PEM block type must be CERTIFICATE REQUEST"),
        Some(Err(_)) => Some("asn1: structure error: malformed certificate request"),
        Some(Ok(request)) if !request.is_signed => Some("x509: signature over certificate request is invalid"),
        Some(Ok(_)) => None,
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

type Conditions<'c> = &'c [CertificateSigningRequestCondition];

fn has(conditions: Conditions<'_>, kind: &str) -> bool {
    conditions.iter().any(|condition| condition.r#type == kind)
}

fn validate_conditions(v: &mut Validation<'_>, path: &Path<'_>, new: Conditions<'_>, old: Conditions<'_>) {
    let types =
        |of| -> Vec<&String> { <[_]>::iter(of).map(|c: &CertificateSigningRequestCondition| &c.r#type).collect() };
    let repeats = !repeated(types(old)).is_empty();
    let contradicts = has(old, APPROVED) && has(old, DENIED);
    let has_untyped = has(old, "");
    let mut before: BTreeSet<&str> = BTreeSet::new();
    for (index, condition) in new.iter().enumerate() {
        let path_of = path.index(index);
        if condition.r#type.is_empty() && !has_untyped {
            v.required(&path_of.child("type"), "");
        }
        let known: &[&str] = match ONLY_TRUE.contains(&condition.r#type.as_str()) {
            true => &["True"],
            false => &["False", "True", "Unknown"],
        };
        v.required_one_of(&path_of.child("status"), &condition.status, known);
        let opposite = match condition.r#type.as_str() {
            APPROVED => DENIED,
            DENIED => APPROVED,
            _ => "",
        };
        let shown = || BadValue::json_string(&condition.r#type);
        if !opposite.is_empty() && before.contains(opposite) && !contradicts {
            v.invalid(path, shown(), "Approved and Denied conditions are mutually exclusive");
        }
        if !before.insert(&condition.r#type) && !repeats {
            v.duplicate(&path_of.child("type"), shown());
        }
    }
}

/// Approval is for `approval` to give and the certificate for `status`; neither can be taken back.
fn validate_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &CertificateSigningRequest,
    old: &CertificateSigningRequest,
) {
    let conditions = path.child("conditions");
    let count = |of: &CertificateSigningRequest, kind: &str| {
        of.status.conditions.iter().filter(|condition| condition.r#type == kind).count()
    };
    for kind in ONLY_TRUE {
        if count(new, kind) < count(old, kind) {
            v.forbidden(&conditions, format!("updates may not remove a condition of type {kind:?}"));
        }
    }
    if v.context.subresource != "approval" {
        for kind in [APPROVED, DENIED] {
            if count(new, kind) > count(old, kind) {
                v.forbidden(&conditions, format!("updates may not add a condition of type {kind:?}"));
            }
        }
    }
    if new.status.certificate != old.status.certificate {
        let certificate = path.child("certificate");
        if v.context.subresource != "status" {
            v.forbidden(&certificate, "updates may not set certificate content");
        } else if !old.status.certificate.is_empty() {
            v.forbidden(&certificate, "updates may not modify existing certificate content");
        }
    }
}
