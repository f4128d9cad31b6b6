//! Hand-written validation of `certificates` that declared checks call: parses keys and certificates
//! (`pkg/apis/certificates/validation`).

mod issued;
mod pod_request;
mod signing_request;
mod trust_bundle;

pub use issued::validate_issued;
pub use meta::validate_whole_metadata_update;
pub use pod_request::{validate_key, validate_outcomes, validate_stub_request};
pub use signing_request::{validate_certificate, validate_request, validate_request_metadata};
pub use trust_bundle::{validate_anchors, validate_bundle_name};

/// PEM label of certificates.
const CERTIFICATE: &str = "CERTIFICATE";
