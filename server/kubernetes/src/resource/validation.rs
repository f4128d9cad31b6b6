//! What upstream checks by hand in dynamic resource allocation (`pkg/apis/resource/validation`), and no declaration says.

mod capacity;
mod claim;
mod selector;
mod slice;

pub use capacity::validate_shared_capacity;
pub use claim::*;
pub use meta::validate_whole_metadata_update;
pub use selector::validate_device_expression;
pub use slice::*;
