//! What upstream checks by hand in requests for certificates and in trust bundles (`pkg/apis/certificates/validation`).

mod pod_request;
mod pod_request_issued;
mod pod_request_status;
mod signing_request;
mod trust_bundle;

pub use pod_request::*;
pub use signing_request::*;
pub use trust_bundle::*;

/// The label of PEM blocks that hold certificates.
const CERTIFICATE: &str = "CERTIFICATE";
