//! Errors of the protobuf codec. The texts are those of upstream's generated code, which clients
//! see in a Status.

use crate::budget::{DecodeError, Exceeded};
use crate::scalar::ScalarError;

/// The reason of a failed decoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("unexpected EOF")]
    UnexpectedEof,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: negative length found during unmarshaling")]
    NegativeLength,
    #[error("proto: unexpected end of group")]
    UnexpectedEndOfGroup,
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u8),
    #[error("proto: wrong wireType = {wire} for field {}", go_name(.field))]
    WrongWireType {
        wire: u8,
        /// The JSON name; upstream prints the name of the Go field.
        field: &'static str,
    },
    #[error("proto: {message}: illegal tag {number} (wire type {tag})")]
    IllegalTag { message: &'static str, number: i32, tag: u64 },
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
    #[error(transparent)]
    Scalar(#[from] ScalarError),
    #[error("empty data")]
    EmptyData,
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoEnvelope,
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
