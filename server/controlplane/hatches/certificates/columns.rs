//! Printed columns and selectable fields of `certificates` that take more than a path: the functions its definitions name with `by_hand`.

pub fn certificate_signing_request_condition(_: &crate::certificates::v1::CertificateSigningRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn certificate_signing_request_requested_duration(_: &crate::certificates::v1::CertificateSigningRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn pod_certificate_request_state(_: &crate::certificates::v1beta1::PodCertificateRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
