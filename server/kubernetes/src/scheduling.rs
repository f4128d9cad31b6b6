//! Hand-written functions that definitions of `scheduling` refer to.

mod columns;
mod strategy;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;
