//! The runtime library of generated code: descriptors of types, fields and kinds, safe reflection
//! over them, scalars, codecs, field paths and errors, Status, selectors.
//!
//! It does not depend on HTTP, on a store, or on any kind. Programs that embed the server use it for
//!
//! - functions of definitions: [`hooks::WriteContext`], [`hooks::Validation`], [`field_path::Path`],
//!   [`print::Cell`];
//! - admission plugins and other code for objects of any kind: [`reflect`], [`json`],
//!   [`status::Status`];
//! - scalars and selectors: [`scalar::Quantity`], [`scalar::Time`], [`selector::LabelSelector`].
//!
//! ```
//! use machinery::def::Flags;
//! use machinery::describe;
//! use machinery::field_path::Path;
//! use machinery::hooks::{WriteContext, Validation};
//! use machinery::reflect::{Ref, Value};
//!
//! // Codegen writes such a type for each struct of a definition.
//! #[derive(Default, Clone)]
//! pub struct ProductSpec {
//!     pub supplier: String,
//!     pub stock: i32,
//! }
//! describe! { ProductSpec, PRODUCT_SPEC "ProductSpec" {} [
//!     supplier: "supplier", 1, Flags::OMIT_EMPTY;
//!     stock: "stock", 2, Flags::OMIT_EMPTY;
//! ] }
//!
//! let spec: ProductSpec = serde_json::from_str(r#"{"supplier":"workshop","stock":-1}"#)?;
//! assert_eq!(Ref::of(&spec).by_name("supplier").and_then(Value::as_str), Some("workshop"));
//!
//! let (context, mut errors) = (WriteContext::default(), Vec::new());
//! let mut validation = Validation::new(&context, &mut errors);
//! validation.not_negative(&Path::new("spec").child("stock"), spec.stock);
//! assert_eq!(errors[0].to_string(), "spec.stock: Invalid value: -1: must be greater than or equal to 0");
//! # Ok::<(), serde_json::Error>(())
//! ```

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

pub mod budget;
pub mod catalog;
pub mod cbor;
pub mod checks;
mod chosen_options;
pub mod def;
pub mod defaulting;
pub mod deprecation;
#[cfg(test)]
mod depth_tests;
pub mod diff;
pub mod envelope;
pub mod gates;
pub mod hooks;
pub mod hub_names;
pub mod json;
pub mod json_path;
pub mod offload;
pub mod options;
pub mod print;
pub mod protobuf;
pub mod reflect;
pub mod request_document;
pub mod serde_impl;
pub mod type_meta;
pub mod validate;
pub mod yaml;

pub use ::features;
pub use ::format;
pub use ::scalar;
pub use ::selector;
pub use ::status;
pub use scalar::limits;
#[doc(hidden)]
pub use serde;
pub use status::{field_error, field_path};
