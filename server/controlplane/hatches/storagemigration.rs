//! Hand-written functions that definitions of `storagemigration` name.

#[path = "storagemigration/columns.rs"]
mod columns;

pub use columns::*;
