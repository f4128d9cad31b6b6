//! Hand-written functions that definitions of `storagemigration` name.

#[path = "storagemigration/columns.rs"]
mod columns;
#[path = "storagemigration/validation.rs"]
mod validation;

pub use columns::*;
pub use validation::*;
