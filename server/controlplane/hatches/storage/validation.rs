//! What upstream checks by hand in kinds of storage (`pkg/apis/storage/validation`).

#[path = "validation/attachment.rs"]
mod attachment;
#[path = "validation/capacity.rs"]
mod capacity;
#[path = "validation/class.rs"]
mod class;
#[path = "validation/driver.rs"]
mod driver;
#[path = "validation/node.rs"]
mod node;

pub use attachment::*;
pub use capacity::*;
pub use class::*;
pub use driver::*;
pub use node::*;

const IMMUTABLE: &str = "field is immutable";
