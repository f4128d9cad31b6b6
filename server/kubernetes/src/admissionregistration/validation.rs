//! What upstream checks by hand in kinds of `admissionregistration` (`pkg/apis/admissionregistration/validation`), and
//! definitions do not say.

mod expressions;
mod rules;

pub use expressions::*;
pub use rules::*;
