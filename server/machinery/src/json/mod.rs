//! JSON codec over descriptors, byte for byte compatible with upstream.
//!
//! Encoders and decoders are concrete functions over [`Ref`](crate::reflect::Ref) and
//! [`Mut`](crate::reflect::Mut): they compile once and serve every declared type. Documents without
//! a declared type (custom resources, patches) are a [`Value`].
//!
//! ```
//! use machinery::json::{self, Issues};
//!
//! let mut issues = Issues::collect();
//! let document = json::parse(br#"{"stock": 1, "stock": 2}"#, &mut issues)?;
//! assert_eq!(document["stock"], 2);
//! assert_eq!(json::strict_error(&issues).unwrap(), r#"strict decoding error: duplicate field "stock""#);
//! # Ok::<(), json::Error>(())
//! ```

mod base64;
mod decode;
mod decoder;
pub mod direct;
mod dom;
mod encode;
mod error;
mod go_type;
mod internal;
mod issues;
mod key;
mod kind;
mod node;
mod open;
mod part;
mod path;
mod read;
mod scalars;
mod scan;
mod write;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

pub use crate::scalar::pretty;
pub use decode::{decode, decode_version, from_value, from_value_version};
pub use dom::{Map, Value, encode_value, encode_value_in_order, parse, to_value};
pub use encode::{encode, encode_object, encode_pretty};
pub use error::{Error, TypeError};
pub use go_type::string_type;
pub use internal::{
    FindInternal, InternalType, encode_internal, encode_internal_lines, go_name, internal_type, register_internal_types,
};
pub use issues::{Issue, Issues, strict_error};
pub use kind::version_and_kind;
pub use node::{Node, NodeForm, is_same_but};
pub use part::{SelectedNames, clear_part, part_to_value};
pub(crate) use read::is_valid_within;
pub use read::{is_valid, member, syntax_error, to_text};
pub use scalars::value_error;
pub use scan::Scanner;
pub use write::{float, prefixed_string, string};

pub(crate) use dom::MEMBER_SIZE;
pub(crate) use encode::long_key as write_long_key;
#[doc(hidden)]
pub use encode::walk_members;
pub(crate) use key::InlineKey;
pub(crate) use node::in_form;
pub(crate) use scalars::{JsonScalar, each_scalar, from_base64};
pub(crate) use write::{base64 as write_base64, raw as write_raw, text as write_text};
