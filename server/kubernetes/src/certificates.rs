//! Hand-written functions that definitions of `certificates` refer to.

use generated::certificates::v1beta1::CertificateSigningRequestSpec;

mod columns;
mod strategy;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;

/// Signer of requests that were created before signers had names.
const LEGACY_UNKNOWN: &str = "kubernetes.io/legacy-unknown";

/// Mirrors `SetDefaults_CertificateSigningRequestSpec` of v1beta1 for requests that were not made by a
/// kubelet. v1beta1 is no longer served: requests without a signer occur only in old storage, long
/// after a kubelet's certificate was signed.
pub fn default_v1beta1_certificate_signing_request_spec(spec: &mut CertificateSigningRequestSpec) {
    spec.signer_name.get_or_insert_with(|| LEGACY_UNKNOWN.to_owned());
}
