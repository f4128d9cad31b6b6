//! Hand-written functions that definitions of `certificates` name.

pub fn certificate_signing_request_condition(_: &crate::certificates::v1::CertificateSigningRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn certificate_signing_request_requested_duration(_: &crate::certificates::v1::CertificateSigningRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn default_v1beta1_certificate_signing_request_spec(_: &mut crate::certificates::v1beta1::CertificateSigningRequestSpec) {}
pub fn pod_certificate_request_state(_: &crate::certificates::v1beta1::PodCertificateRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
