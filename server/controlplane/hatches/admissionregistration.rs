//! Hand-written functions that definitions of `admissionregistration` name.

#[path = "admissionregistration/columns.rs"]
mod columns;
#[path = "admissionregistration/expressions.rs"]
mod expressions;
#[path = "admissionregistration/validation.rs"]
mod validation;

pub use columns::*;
pub use expressions::*;
pub use validation::*;
