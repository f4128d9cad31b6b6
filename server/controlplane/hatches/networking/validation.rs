//! What upstream checks by hand in kinds of `networking` (`pkg/apis/networking/validation`).

#[path = "validation/ingress.rs"]
mod ingress;
#[path = "validation/ingress_class.rs"]
mod ingress_class;
#[path = "validation/ip_address.rs"]
mod ip_address;
#[path = "validation/network_policy.rs"]
mod network_policy;
#[path = "validation/service_cidr.rs"]
mod service_cidr;

pub use ingress::validate_ingress;
pub use ingress_class::validate_ingress_class;
pub use ip_address::validate_ip_address;
pub use network_policy::validate_network_policy;
pub use service_cidr::validate_service_cidr;
