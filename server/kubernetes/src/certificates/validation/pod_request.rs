//! Validation of the keys and outcomes of requests that nodes make for their pods.

use apimachinery::meta::v1::{Condition, condition_status};
use generated::certificates::v1::request_condition_type;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use x509::{CertificateRequest, KeyKind, PublicKey};

use generated::certificates::v1beta1::{PodCertificateRequestSpec, PodCertificateRequestStatus};

/// The shown value and the message if a kind of key is not supported.
fn refusal_of_kind(kind: KeyKind, curves: &str) -> Option<(BadValue, String)> {
    match kind {
        KeyKind::Ed25519 | KeyKind::Ecdsa("P-256" | "P-384" | "P-521") | KeyKind::Rsa(3072 | 4096) => None,
        KeyKind::Ecdsa(curve) => {
            Some((format!("curve {curve}").into(), format!("elliptic public keys must use curve {curves}")))
        }
        KeyKind::Rsa(bits) => {
            Some((format!("{bits}-bit modulus").into(), "RSA keys must have modulus size 3072 or 4096".to_owned()))
        }
        KeyKind::Other => {
            let why = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";
            Some((BadValue::Omitted, why.to_owned()))
        }
    }
}

/// Validates the stub request. Hand-written, because the request is parsed
/// (`validateStubPKCS10Request`).
pub fn validate_stub_request(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodCertificateRequestSpec,
    _: Option<&PodCertificateRequestSpec>,
) {
    let path = path.child(json_name!(PodCertificateRequestSpec.stub_pkcs10_request));
    let Ok(request) = CertificateRequest::parse(&new.stub_pkcs10_request) else {
        return v.invalid(&path, BadValue::Omitted, "must be a valid PKCS#10 CSR");
    };
    match refusal_of_kind(request.public_key.kind, "P256, P384, or P521") {
        Some((shown, why)) => v.invalid(&path, shown, why),
        None if !request.is_signed => v.invalid(&path, BadValue::Omitted, "invalid signature"),
        None => {}
    }
}

/// Validates the key. Hand-written, because the key is parsed and the signature is verified
/// (`validateDeprecatedPKIXPublicKey`).
pub fn validate_key(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PodCertificateRequestSpec,
    _: Option<&PodCertificateRequestSpec>,
) {
    let (path, proof) = (
        path.child(json_name!(PodCertificateRequestSpec.pkix_public_key)),
        path.child(json_name!(PodCertificateRequestSpec.proof_of_possession)),
    );
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

/// Validates the conditions. Hand-written, because upstream writes the index as a separate path
/// element.
pub fn validate_outcomes(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodCertificateRequestStatus,
    _: Option<&PodCertificateRequestStatus>,
) {
    let (path, outcomes) = (
        path.child(json_name!(PodCertificateRequestStatus.conditions)),
        ["Issued", request_condition_type::DENIED, request_condition_type::FAILED],
    );
    let mut known = 0;
    for (index, condition) in new.conditions.iter().enumerate() {
        let index = format!("[{index}]");
        let path = path.child(&index);
        if !outcomes.contains(&condition.r#type.as_str()) {
            v.not_supported(&path.child(json_name!(Condition.r#type)), &condition.r#type, &outcomes);
            continue;
        }
        known += 1;
        if known > 1 {
            let detail = "There may be at most one condition with type \"Issued\", \"Denied\", or \"Failed\"";
            v.invalid(&path.child(json_name!(Condition.r#type)), &condition.r#type, detail);
        }
        v.one_of(&path.child(json_name!(Condition.status)), &condition.status, &[condition_status::TRUE]);
    }
}
