//! Selectors of list, watch and delete-collection requests: which objects a client wants.
//!
//! They are parsed once per request and matched once per object, so matching borrows everything.

mod error;
pub mod field;
pub mod label;

pub use error::SelectorError;
pub use field::{FieldRequirement, FieldSelector};
pub use label::{LabelRequirement, LabelSelector, Operator};
