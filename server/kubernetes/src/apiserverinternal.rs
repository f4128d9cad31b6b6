//! Hand-written functions that definitions of `apiserverinternal` name.

mod columns;
mod validation;

pub use columns::*;
pub use validation::*;
