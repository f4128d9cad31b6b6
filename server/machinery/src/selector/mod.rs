//! Selectors of list, watch and delete-collection requests.
//!
//! A selector is parsed once per request and matched once per object, so matching only borrows.

pub mod field;
pub mod label;

pub use field::{FieldRequirement, FieldSelector};
pub use label::{LabelRequirement, LabelSelector, Operator};
