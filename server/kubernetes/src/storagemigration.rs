//! Hand-written functions that definitions of `storagemigration` name.

mod columns;
mod validation;

pub use columns::*;
pub use validation::*;
