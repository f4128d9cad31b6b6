//! Errors of the protobuf codec. The texts are those of upstream's generated code, which clients
//! see in a Status.

use crate::budget::{DecodeError, Exceeded};
use crate::scalar::ScalarError;

/// The reason of a failed decoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The message ends within a field (Go's `io.ErrUnexpectedEOF`).
    #[error("unexpected EOF")]
    UnexpectedEof,
    /// A varint has more than ten bytes (upstream `ErrIntOverflowGenerated`).
    #[error("proto: integer overflow")]
    Overflow,
    /// A length exceeds an `i64` (upstream `ErrInvalidLengthGenerated`).
    #[error("proto: negative length found during unmarshaling")]
    NegativeLength,
    /// A group ends that has not started (upstream `ErrUnexpectedEndOfGroupGenerated`).
    #[error("proto: unexpected end of group")]
    UnexpectedEndOfGroup,
    /// An unknown wire type, 6 or 7.
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u8),
    /// A known field has another wire type than its own.
    #[error("proto: wrong wireType = {wire} for field {}", go_name(.field))]
    WrongWireType {
        /// The wire type of the field in the message.
        wire: u8,
        /// The JSON name; upstream prints the name of the Go field.
        field: &'static str,
    },
    /// A field number that is not greater than 0.
    #[error("proto: {message}: illegal tag {number} (wire type {tag})")]
    IllegalTag {
        /// The name of the message.
        message: &'static str,
        /// The field number.
        number: i32,
        /// The whole tag: field number and wire type.
        tag: u64,
    },
    /// The end of a group in place of a field of this message.
    #[error("proto: {0}: wiretype end group for non-group")]
    EndGroup(&'static str),
    /// More than [`MAX_DEPTH`](crate::limits::MAX_DEPTH). Upstream has no limit here and recurses
    /// until its stack is exhausted.
    #[error("proto: exceeded max depth")]
    TooDeep,
    /// Embedded JSON is malformed, which upstream detects when it encodes the object.
    #[error("embedded JSON: {0}")]
    Json(Box<str>),
    /// The message exceeds a memory budget.
    #[error(transparent)]
    TooLarge(#[from] Exceeded),
    /// The parser of a scalar rejects its text.
    #[error(transparent)]
    Scalar(#[from] ScalarError),
    /// An object without any bytes.
    #[error("empty data")]
    EmptyData,
    /// The bytes do not start with the prefix of a protobuf object.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoEnvelope,
    /// The prefix of a protobuf object without a message.
    #[error("empty body")]
    EmptyBody,
}

impl DecodeError for Error {
    fn exceeded(&self) -> Option<Exceeded> {
        match self {
            Error::TooLarge(exceeded) => Some(*exceeded),
            _ => None,
        }
    }
}

/// First words that Go writes in upper case.
const INITIALISMS: [&str; 20] = [
    "api", "aws", "cidr", "csi", "dns", "fc", "fs", "gce", "grpc", "http", "id", "ip", "ips", "nfs", "pid", "tcp",
    "tls", "tty", "uid", "url",
];

/// The Go field of a JSON name: it differs in the case of the first word, with few exceptions.
fn go_name(json: &str) -> String {
    let end = json.find(|c: char| c.is_ascii_uppercase()).unwrap_or(json.len());
    let (word, rest) = json.split_at(end);
    let upper = if INITIALISMS.contains(&word) { word.len() } else { 1 };
    let (first, word) = word.split_at_checked(upper).unwrap_or((word, ""));
    first.to_ascii_uppercase() + word + rest
}
