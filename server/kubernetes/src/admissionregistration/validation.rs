//! Hand-written validation of `admissionregistration` that definitions cannot declare
//! (`pkg/apis/admissionregistration/validation`).

mod expressions;
mod rules;

pub use expressions::*;
pub use rules::*;
