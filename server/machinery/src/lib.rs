//! The runtime library of generated code: descriptors of types, fields and kinds, safe reflection
//! over them, scalars, codecs, field paths and errors, Status, selectors.
//!
//! It does not depend on HTTP, on a store, or on any kind.

pub mod budget;
pub mod catalog;
pub mod cbor;
pub mod checks;
mod chosen_options;
pub mod def;
pub mod defaulting;
pub mod deprecation;
pub mod diff;
pub mod envelope;
pub mod features;
pub mod field_error;
pub mod field_path;
pub mod format;
pub mod gates;
pub mod hooks;
pub mod hub_names;
pub mod json;
pub mod json_path;
pub mod limits;
pub mod offload;
pub mod options;
pub mod print;
pub mod protobuf;
pub mod reflect;
pub mod request_document;
pub mod scalar;
pub mod selector;
pub mod serde_impl;
pub mod status;
pub mod type_meta;
pub mod validate;
pub mod yaml;

#[doc(hidden)]
pub use serde;
