//! What upstream checks by hand in kinds of storage (`pkg/apis/storage/validation`), and definitions do not say.

mod class;
mod node;
mod warnings;

pub use class::*;
pub use meta::{validate_cluster_metadata, validate_whole_metadata_update};
pub use node::*;
pub use warnings::*;
