//! Hand-written functions that definitions of `core` name: defaults that depend on other fields, and what the trip through upstream's
//! internal types does to an object.

#[path = "core/app_armor.rs"]
mod app_armor;
#[path = "core/columns.rs"]
mod columns;
#[path = "core/image.rs"]
pub(crate) mod image;
#[path = "core/internal.rs"]
pub mod internal;
#[path = "core/meta.rs"]
pub(crate) mod meta;
#[path = "core/normalize.rs"]
mod normalize;
#[path = "core/pod.rs"]
mod pod;
#[path = "core/pod_resources.rs"]
mod pod_resources;
#[path = "core/quality.rs"]
pub mod quality;
#[path = "core/resources.rs"]
mod resources;
#[path = "core/service.rs"]
mod service;
#[path = "core/strategy.rs"]
mod strategy;
#[path = "core/validation.rs"]
pub(crate) mod validation;
#[path = "core/warnings.rs"]
pub(crate) mod warnings;

pub use columns::*;
pub use normalize::*;
pub use pod::*;
pub use pod_resources::{pod_limits, pod_requests};
pub use resources::*;
pub use service::*;
pub use strategy::*;
pub use validation::*;
