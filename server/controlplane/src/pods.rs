//! Subresources of pods that do something besides reading and writing: binding to a node, and eviction.

mod binding;
mod condition;
mod eviction;

pub use binding::Binding;
pub use eviction::Eviction;
