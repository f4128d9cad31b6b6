//! The scalar types of the Kubernetes API, which JSON and protobuf encode as one string or number.
//!
//! Every type parses and formats its text exactly like an upstream server, including the texts of
//! errors. The modules depend neither on HTTP nor on descriptors. `machinery` re-exports this crate.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod decimal;
pub mod digits;
pub mod document;
pub mod duration;
mod error;
pub mod go_text;
pub mod int_or_string;
pub mod json_text;
pub mod limits;
mod pretty;
pub mod quantity;
pub mod raw;
mod rfc3339;
pub mod time;

pub use document::Document;
pub use duration::Duration;
pub use error::ScalarError;
pub use int_or_string::IntOrString;
pub use pretty::{indent, pretty};
pub use quantity::Quantity;
pub use raw::{FieldsV1, JsonValue, RawExtension};
pub use time::{MicroTime, Time};
