//! What upstream checks by hand in kinds of `networking` (`pkg/apis/networking/validation`).

mod ingress;
mod network_policy;
mod service_cidr;

pub use ingress::*;
pub use meta::{validate_cluster_metadata, validate_whole_metadata_update};
pub use network_policy::validate_network_policy;
pub use service_cidr::validate_service_cidr;
