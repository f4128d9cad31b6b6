//! Hand-written functions that definitions of `scheduling` name.

#[path = "scheduling/columns.rs"]
mod columns;
#[path = "scheduling/strategy.rs"]
mod strategy;
#[path = "scheduling/validation.rs"]
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;
