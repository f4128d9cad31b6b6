//! What upstream checks by hand in kinds of `networking` (`pkg/apis/networking/validation`), and definitions do not say.

mod ingress;
mod ranges;

pub use ingress::*;
pub use meta::{validate_cluster_metadata, validate_whole_metadata_update};
pub use ranges::*;
