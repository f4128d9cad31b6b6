//! Requests that nodes make for their pods.

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::{self, NameRule, field};
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use meta::annotations_size;
use x509::{CertificateRequest, KeyKind, PublicKey};

use super::pod_request_status::validate_status;
use crate::core::internal::internal_value;
use crate::core::validation::signer::{is_kubernetes_signer, validate_signer_name};
use generated::certificates::v1beta1::{PodCertificateRequest, PodCertificateRequestSpec};

const MAX_UID_LENGTH: usize = 128;
const MAX_KEY_SIZE: usize = 10 * 1024;
/// In seconds.
const MIN_EXPIRATION: i32 = 60 * 60;
/// Of what Kubernetes' own signers sign, in seconds.
const MAX_KUBERNETES_EXPIRATION: i32 = 24 * 60 * 60;
/// In seconds.
const MAX_EXPIRATION: i32 = 91 * 24 * 60 * 60;

const UNKNOWN_KEY: &str = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";

/// `ValidatePodCertificateRequestCreate` and what may change of one.
pub fn validate_pod_certificate_request(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodCertificateRequest,
    old: Option<&PodCertificateRequest>,
) {
    let spec = path.child("spec");
    match old {
        None => validate_spec(v, &spec, &new.spec),
        Some(old) if v.context.subresource == "status" => validate_status(v, path, new, old),
        Some(old) if Ref::of(&old.spec) != Ref::of(&new.spec) => {
            v.invalid(&spec, internal_value(&new.spec), "field is immutable");
        }
        Some(_) => {}
    }
}

fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodCertificateRequestSpec) {
    validate_signer_name(v, &path.child("signerName"), &spec.signer_name);
    validate_user_annotations(v, &path.child("unverifiedUserAnnotations"), spec);
    for (of, name, uid) in [
        ("pod", &spec.pod_name, &spec.pod_uid),
        ("serviceAccount", &spec.service_account_name, &spec.service_account_uid),
        ("node", &spec.node_name, &spec.node_uid),
    ] {
        validate_reference(v, path, of, (name, uid));
    }
    let Some(seconds) = spec.max_expiration_seconds else {
        return v.required(&path.child("maxExpirationSeconds"), "must be set");
    };
    let max = if is_kubernetes_signer(&spec.signer_name) { MAX_KUBERNETES_EXPIRATION } else { MAX_EXPIRATION };
    if !(MIN_EXPIRATION..=max).contains(&seconds) {
        let detail = format!("must be in the range [{MIN_EXPIRATION}, {max}]");
        v.invalid(&path.child("maxExpirationSeconds"), seconds, detail);
    }
    let [key, proof, stub] = [&spec.pkix_public_key, &spec.proof_of_possession, &spec.stub_pkcs10_request];
    match (!key.is_empty(), !proof.is_empty(), !stub.is_empty()) {
        (false, false, true) => validate_stub_request(v, &path.child("stubPKCS10Request"), stub),
        (true, true, false) => validate_key(v, path, spec),
        _ => {
            let detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
            v.invalid(path, BadValue::Omitted, detail);
        }
    }
}

/// `ValidateUserAnnotations`
fn validate_user_annotations(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodCertificateRequestSpec) {
    let annotations = &spec.unverified_user_annotations;
    for key in annotations.keys() {
        v.errors.extend(field::domain_prefixed_key(path, &key.to_lowercase()));
    }
    if annotations_size(annotations) > format::ANNOTATIONS_MAX_SIZE {
        v.errors.push(FieldError::too_long(path, format::ANNOTATIONS_MAX_SIZE));
    }
}

fn validate_reference(v: &mut Validation<'_>, path: &Path<'_>, of: &str, (name, uid): (&str, &str)) {
    let (name_field, uid_field) = (format!("{of}Name"), format!("{of}UID"));
    let name_path = path.child(&name_field);
    for message in NameRule::Dns1123Subdomain.check(name, false) {
        v.invalid(&name_path, name, message);
    }
    let uid_path = path.child(&uid_field);
    if uid.is_empty() {
        v.invalid(&uid_path, BadValue::json_string(uid), "must not be empty");
    }
    if uid.len() > MAX_UID_LENGTH {
        v.too_long(&uid_path, MAX_UID_LENGTH);
    }
}

/// What is wrong with a kind of key: what is shown of it, and why.
fn refusal_of_kind(kind: KeyKind, curves: &str) -> Option<(BadValue, String)> {
    match kind {
        KeyKind::Ed25519 | KeyKind::Ecdsa("P-256" | "P-384" | "P-521") | KeyKind::Rsa(3072 | 4096) => None,
        KeyKind::Ecdsa(curve) => {
            Some((format!("curve {curve}").into(), format!("elliptic public keys must use curve {curves}")))
        }
        KeyKind::Rsa(bits) => {
            Some((format!("{bits}-bit modulus").into(), "RSA keys must have modulus size 3072 or 4096".to_owned()))
        }
        KeyKind::Other => Some((BadValue::Omitted, UNKNOWN_KEY.to_owned())),
    }
}

/// `validateStubPKCS10Request`
fn validate_stub_request(v: &mut Validation<'_>, path: &Path<'_>, request: &[u8]) {
    if request.len() > MAX_KEY_SIZE {
        return v.too_long(path, MAX_KEY_SIZE);
    }
    let Ok(request) = CertificateRequest::parse(request) else {
        return v.invalid(path, BadValue::Omitted, "must be a valid PKCS#10 CSR");
    };
    match refusal_of_kind(request.public_key.kind, "P256, P384, or P521") {
        Some((shown, why)) => v.invalid(path, shown, why),
        None if !request.is_signed => v.invalid(path, BadValue::Omitted, "invalid signature"),
        None => {}
    }
}

/// `validateDeprecatedPKIXPublicKey`
fn validate_key(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodCertificateRequestSpec) {
    let (path, proof) = (path.child("pkixPublicKey"), path.child("proofOfPossession"));
    for (path, bytes) in [(&path, &spec.pkix_public_key), (&proof, &spec.proof_of_possession)] {
        if bytes.len() > MAX_KEY_SIZE {
            return v.too_long(path, MAX_KEY_SIZE);
        }
    }
    let shown = || BadValue::bytes(&spec.pkix_public_key);
    let Ok(key) = PublicKey::parse(&spec.pkix_public_key) else {
        return v.invalid(&path, shown(), "must be a valid PKIX-serialized public key");
    };
    match refusal_of_kind(key.kind, "P256 or P384") {
        Some((BadValue::Omitted, why)) => v.invalid(&path, shown(), why),
        Some((value, why)) => v.invalid(&path, value, why),
        None if !key.verifies(spec.pod_uid.as_bytes(), &spec.proof_of_possession) => {
            v.invalid(&proof, BadValue::Omitted, "could not verify proof-of-possession signature");
        }
        None => {}
    }
}
