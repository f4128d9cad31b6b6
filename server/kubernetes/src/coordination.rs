//! Hand-written functions that definitions of `coordination` name.

mod validation;

pub use validation::*;
