//! Hand-written functions that definitions of `scheduling` name.

#[path = "scheduling/columns.rs"]
mod columns;

pub use columns::*;
