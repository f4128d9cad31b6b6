//! What upstream checks by hand in requests for certificates and in trust bundles (`pkg/apis/certificates/validation`).

#[path = "validation/pod_request.rs"]
mod pod_request;
#[path = "validation/pod_request_issued.rs"]
mod pod_request_issued;
#[path = "validation/pod_request_status.rs"]
mod pod_request_status;
#[path = "validation/signing_request.rs"]
mod signing_request;
#[path = "validation/trust_bundle.rs"]
mod trust_bundle;

pub use pod_request::*;
pub use signing_request::*;
pub use trust_bundle::*;

/// The label of PEM blocks that hold certificates.
const CERTIFICATE: &str = "CERTIFICATE";
