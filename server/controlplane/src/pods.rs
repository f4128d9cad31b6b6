//! Subresources of pods with special behavior: binding and eviction.

mod binding;
mod condition;
mod eviction;

pub use binding::BindingHandler;
pub use eviction::Eviction;
