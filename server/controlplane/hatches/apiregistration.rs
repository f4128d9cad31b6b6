//! Hand-written functions that definitions of `apiregistration` name.

#[path = "apiregistration/columns.rs"]
mod columns;

pub use columns::*;
