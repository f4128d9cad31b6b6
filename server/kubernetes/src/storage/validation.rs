//! Hand-written validation of `storage` that definitions cannot declare
//! (`pkg/apis/storage/validation`).

mod class;
mod node;

pub use class::*;
pub use meta::{validate_cluster_metadata, validate_whole_metadata_update};
pub use node::*;
