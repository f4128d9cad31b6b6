//! Hand-written functions that definitions of `coordination` refer to.

mod validation;

pub use validation::*;
