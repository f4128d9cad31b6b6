//! Hand-written functions that definitions of `certificates` name.

#[path = "certificates/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_v1beta1_certificate_signing_request_spec(_: &mut crate::certificates::v1beta1::CertificateSigningRequestSpec) {}
