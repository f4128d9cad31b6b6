//! The protobuf codec over descriptors.
//!
//! The output equals that of upstream's gogo-generated `MarshalToSizedBuffer`, byte for byte,
//! because both servers may share one etcd. Fields are in ascending order of numbers and map
//! entries in key order. Plain scalars are always written; absent `Option`s, empty lists and empty
//! maps never.
//!
//! Decoding and its errors follow `Unmarshal`: unknown fields are skipped, the last scalar wins, a
//! repeated message is merged. Strings are the one difference: Go does not validate their UTF-8, so
//! invalid bytes become U+FFFD here instead of an error.
//!
//! The modules do not depend on the `k8s\0` envelope, see [`crate::envelope`].

mod decode;
mod encode;
mod error;
mod kinds;
mod mask;
mod scalars;
mod step;
#[cfg(test)]
pub(crate) mod tests;
mod transcode;
pub(crate) mod wire;
mod writer;

pub use decode::{decode, decode_body};
pub use encode::{encode, encodes_to};
pub(crate) use encode::{encode_field, message, with_written, write};
pub use error::Error;
pub(crate) use kinds::set_embedded_kind;
pub use kinds::set_embedded_kinds;
pub use mask::{Mask, bytes_of, decode_masked, with_text, write_bytes};
pub(crate) use step::{FieldStep, steps};
pub use transcode::{object_to_json, to_json};
pub(crate) use writer::Writer;
