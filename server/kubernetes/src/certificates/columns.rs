//! Printed columns of `certificates` that are computed: the functions of `by_hand = ..` in its definitions.

use machinery::print::{Cell, PrintContext, human_duration};

use generated::certificates::v1::{CertificateSigningRequest, request_condition_type};
use generated::certificates::v1beta1::PodCertificateRequest;

pub fn certificate_signing_request_condition(request: &CertificateSigningRequest, _: &PrintContext) -> Cell {
    let has = |kind: &str| request.status.conditions.iter().any(|c| c.r#type == kind);
    let mut text = [request_condition_type::DENIED, request_condition_type::APPROVED]
        .into_iter()
        .find(|kind| has(kind))
        .unwrap_or("Pending")
        .to_string();
    if has(request_condition_type::FAILED) {
        text.push_str(",Failed");
    }
    if !request.status.certificate.is_empty() {
        text.push_str(",Issued");
    }
    text.into()
}

pub fn certificate_signing_request_requested_duration(request: &CertificateSigningRequest, _: &PrintContext) -> Cell {
    request.spec.expiration_seconds.map_or("<none>".into(), |seconds| human_duration(seconds.into()).into())
}

pub fn pod_certificate_request_state(request: &PodCertificateRequest, _: &PrintContext) -> Cell {
    let mut kinds = request.status.conditions.iter().map(|c| c.r#type.as_str());
    kinds
        .rfind(|kind| matches!(*kind, "Issued" | request_condition_type::DENIED | request_condition_type::FAILED))
        .unwrap_or("Pending")
        .into()
}
