//! Hand-written functions that definitions of `apiregistration` name.

#[path = "apiregistration/columns.rs"]
mod columns;
#[path = "apiregistration/strategy.rs"]
mod strategy;
#[path = "apiregistration/validation.rs"]
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;
