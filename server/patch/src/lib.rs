//! Patches: JSON patch, merge patch, strategic merge patch, server-side apply.
//!
//! All functions work on documents (`serde_json::Value`) in a versioned form. Descriptors
//! ([`machinery::def::StructDef`]) or the schema of a custom resource determine how fields merge. The
//! crate is independent of HTTP and stores: handlers decode, default and validate the result.

mod document;
mod error;
pub mod field_set;
pub mod go_print;
mod integers;
mod json_patch;
pub mod managed;
mod merge_patch;
mod numbers;
pub mod schema;
mod shape;
mod strategic;
pub mod typed;
mod work;

pub use document::undecodable_document;
pub use error::{Error, TypeError};
pub use field_set::FieldSet;
pub use integers::fit_integers;
pub use json_patch::{MAX_OPERATIONS, json_patch, json_patch_of, names_of_operations};
pub use merge_patch::{merge_patch, merge_patch_unchecked};
pub use numbers::{Patched, has_odd_numbers, with_numbers};
pub use shape::shape_error;
pub use strategic::{strategic_merge, undecodable};

#[cfg(test)]
mod tests;
