//! Hand-written functions that definitions of `apiserverinternal` name.

#[path = "apiserverinternal/columns.rs"]
mod columns;
#[path = "apiserverinternal/validation.rs"]
mod validation;

pub use columns::*;
pub use validation::*;
