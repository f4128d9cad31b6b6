//! Hand-written functions that definitions of `core` refer to. They include defaults that depend on
//! other fields, and changes of upstream's round trip through internal types.

mod annotation_json;
mod app_armor;
mod columns;
pub(crate) mod image;
pub mod internal;
pub(crate) mod meta;
mod normalize;
mod pod;
pub mod pod_references;
mod pod_resources;
pub mod qos;
mod resources;
mod service;
mod strategy;
pub(crate) mod validation;
pub(crate) mod warnings;

pub use columns::*;
pub use normalize::*;
pub use pod::*;
pub use pod_resources::{pod_limits, pod_requests};
pub use resources::*;
pub use service::*;
pub use strategy::*;
pub use validation::*;
