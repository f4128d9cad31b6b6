//! Selectors of list, watch and delete-collection requests.
//!
//! A selector is parsed once per request and matched once per object, so matching only borrows.
//! `machinery` re-exports this crate.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod error;
pub mod field;
pub mod label;

pub use error::Error;
pub use field::{FieldRequirement, FieldSelector};
pub use label::{LabelRequirement, LabelSelector, Operator};
