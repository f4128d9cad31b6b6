//! Hand-written functions that definitions of `admissionregistration` name.

#[path = "admissionregistration/columns.rs"]
mod columns;

pub use columns::*;
