//! Hand-written validation of `networking` that definitions cannot declare
//! (`pkg/apis/networking/validation`).

mod ingress;
mod ranges;

pub use ingress::*;
pub use meta::{validate_cluster_metadata, validate_whole_metadata_update};
pub use ranges::*;
