//! Hand-written functions that definitions of `apiserverinternal` name.

#[path = "apiserverinternal/columns.rs"]
mod columns;

pub use columns::*;
