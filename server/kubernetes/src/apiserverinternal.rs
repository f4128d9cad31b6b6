//! Hand-written functions that definitions of `apiserverinternal` refer to.

mod columns;
mod validation;

pub use columns::*;
pub use validation::*;
