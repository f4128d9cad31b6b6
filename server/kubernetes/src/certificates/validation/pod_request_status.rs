//! What becomes of a request of a pod.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use meta::validate_conditions;

use super::pod_request_issued::validate_issued;
use generated::certificates::v1beta1::{PodCertificateRequest, PodCertificateRequestStatus};

const ISSUED: &str = "Issued";
const DENIED: &str = "Denied";
const FAILED: &str = "Failed";
const OUTCOMES: [&str; 3] = [ISSUED, DENIED, FAILED];

/// `ValidatePodCertificateRequestStatusUpdate`: a status says one outcome, once.
pub fn validate_status(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodCertificateRequest,
    old: &PodCertificateRequest,
) {
    let status = path.child("status");
    if !v.errors.is_empty() {
        return; // Of the metadata.
    }
    validate_outcomes(v, &status, &new.status);
    validate_conditions(v, &status.child("conditions"), &new.status.conditions);
    if !v.errors.is_empty() {
        return;
    }
    let is = |of: &PodCertificateRequest, outcome: &str| {
        of.status.conditions.iter().any(|c| c.r#type == outcome && c.status == "True")
    };
    let (wanted, why) = if OUTCOMES.iter().any(|outcome| is(old, outcome)) {
        (old.status.clone(), "immutable after PodCertificateRequest is issued, denied, or failed")
    } else if is(new, DENIED) || is(new, FAILED) {
        let conditions = new.status.conditions.clone();
        let only_conditions = PodCertificateRequestStatus { conditions, ..PodCertificateRequestStatus::default() };
        (only_conditions, "non-condition status fields must be empty when denying or failing the PodCertificateRequest")
    } else if is(new, ISSUED) {
        return validate_issued(v, path, new, old);
    } else {
        (old.status.clone(), "status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"")
    };
    if Ref::of(&wanted) != Ref::of(&new.status) {
        v.invalid(&status, BadValue::Omitted, why);
    }
}

/// Upstream writes the index as a name of its own.
fn validate_outcomes(v: &mut Validation<'_>, path: &Path<'_>, status: &PodCertificateRequestStatus) {
    let path = path.child("conditions");
    let mut known = 0;
    for (index, condition) in status.conditions.iter().enumerate() {
        let index = format!("[{index}]");
        let path = path.child(&index);
        if !OUTCOMES.contains(&condition.r#type.as_str()) {
            v.not_supported(&path.child("type"), &condition.r#type, &OUTCOMES);
            continue;
        }
        known += 1;
        if known > 1 {
            let detail = "There may be at most one condition with type \"Issued\", \"Denied\", or \"Failed\"";
            v.invalid(&path.child("type"), &condition.r#type, detail);
        }
        v.one_of(&path.child("status"), &condition.status, &["True"]);
    }
}
