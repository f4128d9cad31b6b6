//! Hand-written functions that definitions of `admissionregistration` refer to.

mod columns;
mod expressions;
mod validation;

pub use columns::*;
pub use expressions::*;
pub use validation::*;
