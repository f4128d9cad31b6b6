//! Tests against upstream's encoding: the hex was printed by `Marshal` of k8s.io/api v0.36.2.

mod fuzz;
pub(crate) mod golden;
mod masking;
mod reading;
mod transcoding;
pub(crate) mod types;

use super::{Error, decode, encode};
use crate::reflect::{Mut, Ref, Struct};

pub(crate) fn encoded<T: Struct>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    encode(Ref::of(value), &mut out);
    out
}

pub(crate) fn decoded<T: Struct>(bytes: &[u8]) -> Result<T, Error> {
    let mut value = T::default();
    decode(bytes, Mut::of(&mut value)).map(|()| value)
}

/// Decodes hex digits; blanks between them are ignored.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Asserts that two byte strings are equal, and shows them in hex.
pub(crate) fn assert_bytes(found: &[u8], expect: &[u8]) {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    assert_eq!(hex(found), hex(expect));
}
