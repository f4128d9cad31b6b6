//! Hand-written functions that definitions of `apiregistration` name.

mod columns;
mod strategy;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;
