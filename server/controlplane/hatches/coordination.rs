//! Hand-written functions that definitions of `coordination` name.

#[path = "coordination/validation.rs"]
mod validation;

pub use validation::*;
