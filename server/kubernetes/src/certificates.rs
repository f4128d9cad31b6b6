//! Hand-written functions that definitions of `certificates` name.

use generated::certificates::v1beta1::CertificateSigningRequestSpec;

mod columns;
mod strategy;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;

/// The signer of requests from before signers had names.
const LEGACY_UNKNOWN: &str = "kubernetes.io/legacy-unknown";

/// Mirrors `SetDefaults_CertificateSigningRequestSpec` of v1beta1 for requests that no kubelet made. v1beta1 is served no more, so that
/// requests without a signer come only out of old storage, long after a kubelet's certificate was signed.
pub fn default_v1beta1_certificate_signing_request_spec(spec: &mut CertificateSigningRequestSpec) {
    spec.signer_name.get_or_insert_with(|| LEGACY_UNKNOWN.to_owned());
}
