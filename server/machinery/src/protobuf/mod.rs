//! The protobuf codec, written once over descriptors.
//!
//! What it writes is byte for byte what upstream's gogo-generated `MarshalToSizedBuffer` writes, because both servers may share one
//! etcd: fields in ascending order of numbers, plain scalars always, absent `Option`s, empty lists and empty maps never, map entries in
//! order of keys. What it reads, and how it complains, follows `Unmarshal`: unknown fields are skipped, the last scalar wins, a message
//! that occurs twice is merged. Strings are the one difference: Go does not look whether they are UTF-8, so bytes that are not become
//! U+FFFD here instead of an error.
//!
//! The modules know nothing about the `k8s\0` envelope, see [`crate::envelope`].

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

pub use decode::{decode, decode_body};
pub use encode::encode;
pub(crate) use encode::{Writer, encode_field, message, write};
pub use error::Error;
pub(crate) use kinds::say_kind;
pub use kinds::say_kinds;
pub use mask::{Mask, bytes_of, decode_masked, with_text, write_bytes};
pub(crate) use step::{Step, steps};
pub use transcode::{object_to_json, to_json};
