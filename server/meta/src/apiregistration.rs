//! Hand-written functions that the definitions of `apiregistration` refer to.

mod columns;
mod strategy;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;
