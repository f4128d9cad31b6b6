//! Hand-written functions that definitions of `admissionregistration` name.

mod columns;
mod expressions;
mod validation;

pub use columns::*;
pub use expressions::*;
pub use validation::*;
