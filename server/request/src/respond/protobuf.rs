//! Encodes a `Status` in protobuf.
//!
//! Written by hand, because this crate does not depend on the generated types; the message has not
//! changed since 1.0.

use machinery::envelope::{MAGIC, TAIL};
use machinery::status::{Cause, Details, Status};

/// The media type of protobuf objects.
pub(super) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// The object with its envelope.
pub(super) fn encode(status: &Status) -> Vec<u8> {
    let mut type_meta = Vec::new();
    bytes(&mut type_meta, 1, b"v1");
    bytes(&mut type_meta, 2, b"Status");
    let mut out = MAGIC.to_vec();
    bytes(&mut out, 1, &type_meta);
    bytes(&mut out, 2, &message(status));
    out.extend_from_slice(&TAIL);
    out
}

fn message(status: &Status) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(&mut out, 1, &list_meta(&status.continue_token));
    bytes(&mut out, 2, b"Failure");
    bytes(&mut out, 3, status.message.as_bytes());
    bytes(&mut out, 4, status.reason.as_bytes());
    if let Some(found) = &status.details {
        bytes(&mut out, 5, &details(found));
    }
    number(&mut out, 6, status.code.into());
    out
}

/// `ListMeta`; its strings are always written.
fn list_meta(continue_token: &str) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(&mut out, 1, b"");
    bytes(&mut out, 2, b"");
    bytes(&mut out, 3, continue_token.as_bytes());
    out
}

fn details(details: &Details) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(&mut out, 1, details.name.as_bytes());
    bytes(&mut out, 2, details.group.as_bytes());
    bytes(&mut out, 3, details.kind.as_bytes());
    details.causes.iter().for_each(|found| bytes(&mut out, 4, &cause(found)));
    number(&mut out, 5, details.retry_after_seconds as u64);
    bytes(&mut out, 6, details.uid.as_bytes());
    out
}

fn cause(cause: &Cause) -> Vec<u8> {
    let mut out = Vec::new();
    bytes(&mut out, 1, cause.reason.as_bytes());
    bytes(&mut out, 2, cause.message.as_bytes());
    bytes(&mut out, 3, cause.field.as_bytes());
    out
}

fn bytes(out: &mut Vec<u8>, field: u8, value: &[u8]) {
    out.push(field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn number(out: &mut Vec<u8>, field: u8, value: u64) {
    out.push(field << 3);
    varint(out, value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_status_in_envelope() {
        let encoded = encode(&Status::too_many_requests("wait", 300));
        let envelope = machinery::envelope::split(&encoded).unwrap();
        assert_eq!((envelope.api_version, envelope.kind), ("v1", "Status"));
        let details = b"\x0a\0\x12\0\x1a\0\x28\xac\x02\x32\0";
        let expect = [
            &b"\x0a\x06\x0a\0\x12\0\x1a\0\x12\x07Failure\x1a\x04wait\x22\x0fTooManyRequests\x2a\x0b"[..],
            details,
            b"\x30\xad\x03",
        ];
        assert_eq!(envelope.raw, expect.concat());
    }
}
