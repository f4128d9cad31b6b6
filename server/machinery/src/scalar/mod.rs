//! The scalar types of the Kubernetes API: what JSON and protobuf carry as one string or number, and what it means.
//!
//! Every type here reads and writes its text exactly as an upstream server does, including the texts of its errors. The
//! modules know neither HTTP nor descriptors.

mod decimal;
pub mod digits;
pub mod document;
pub mod duration;
mod error;
pub mod go_text;
pub mod int_or_string;
pub mod json_text;
pub mod quantity;
pub mod raw;
mod rfc3339;
pub mod time;

pub use document::Document;
pub use duration::Duration;
pub use error::ScalarError;
pub use int_or_string::IntOrString;
pub use quantity::Quantity;
pub use raw::{FieldsV1, JsonValue, RawExtension};
pub use time::{MicroTime, Time};
