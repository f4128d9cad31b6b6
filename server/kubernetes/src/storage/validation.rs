//! What upstream checks by hand in kinds of storage (`pkg/apis/storage/validation`).

mod attachment;
mod capacity;
mod class;
mod driver;
mod node;

pub use attachment::*;
pub use capacity::*;
pub use class::*;
pub use driver::*;
pub use meta::{validate_cluster_metadata, validate_whole_metadata_update};
pub use node::*;

const IMMUTABLE: &str = "field is immutable";
