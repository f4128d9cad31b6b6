//! Hand-written functions that definitions of `batch` name.

#[path = "batch/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_job(_: &mut crate::batch::v1::Job) {}
