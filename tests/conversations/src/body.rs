//! Bodies of answers as JSON values.

use std::io::Read;

use serde_json::{Value, json};

use crate::error::{Error, Result};

/// Headers of an answer: names in lower case, in the order in which they came.
pub type Headers = Vec<(String, String)>;

/// The first value of a header.
pub fn header<'h>(headers: &'h Headers, name: &str) -> Option<&'h str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The body of an answer as JSON; null if it is empty.
///
/// What is not JSON is `{"$text": ".."}`, `{"$protobuf": "apiVersion kind"}` or `{"$binary": true}`.
///
/// # Errors
/// A body whose encoding is gzip and which is no gzip.
pub fn read(headers: &Headers, raw: &[u8]) -> Result<Value> {
    let mut unpacked = Vec::new();
    let raw = if header(headers, "content-encoding") == Some("gzip") {
        flate2::read::MultiGzDecoder::new(raw).read_to_end(&mut unpacked).map_err(Error::Compression)?;
        &unpacked
    } else {
        raw
    };
    let kind = header(headers, "content-type").unwrap_or_default();
    if raw.is_empty() {
        return Ok(Value::Null);
    }
    if let Some(envelope) = raw.strip_prefix(b"k8s\0") {
        return Ok(json!({"$protobuf": protobuf_kind(envelope)}));
    }
    if kind.contains("protobuf") || kind.contains("cbor") {
        return Ok(json!({"$binary": true}));
    }
    let json = kind.contains("json").then(|| serde_json::from_slice(raw).ok()).flatten();
    Ok(json.unwrap_or_else(|| json!({"$text": String::from_utf8_lossy(raw)})))
}

/// `apiVersion kind` of an envelope: its field 1 is a message of the strings 1 and 2.
fn protobuf_kind(envelope: &[u8]) -> String {
    let kind = || {
        let meta = field(envelope, 1)?;
        let text = |number| std::str::from_utf8(field(meta, number)?).ok();
        Some(format!("{} {}", text(1)?, text(2)?).trim().to_string())
    };
    kind().unwrap_or_else(|| "?".into())
}

/// The bytes of the last field with this number; empty when there is none, `None` when the message is cut off.
fn field(mut message: &[u8], number: u64) -> Option<&[u8]> {
    let mut found: &[u8] = &[];
    while !message.is_empty() {
        let key = varint(&mut message)?;
        if key & 7 == 2 {
            let size = usize::try_from(varint(&mut message)?).ok()?;
            let (value, rest) = message.split_at(size.min(message.len()));
            if key >> 3 == number {
                found = value;
            }
            message = rest;
        } else {
            varint(&mut message)?;
        }
    }
    Some(found)
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        number |= u64::from(byte & 127).checked_shl(shift)?;
        shift += 7;
        if *byte < 128 {
            return Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read_as(kind: &str, raw: &[u8]) -> Value {
        read(&vec![("content-type".into(), kind.into())], raw).unwrap()
    }

    #[test]
    fn bodies_are_json_or_text_or_binary() {
        assert_eq!(read_as("application/json", b"{\"a\": 1}"), json!({"a": 1}));
        assert_eq!(read_as("application/json", b"{"), json!({"$text": "{"}));
        assert_eq!(read_as("text/plain", b"{}"), json!({"$text": "{}"}));
        assert_eq!(read_as("application/cbor", b"\xd9\xd9\xf7\xa0"), json!({"$binary": true}));
        assert_eq!(read_as("application/json", b""), Value::Null);
    }

    #[test]
    fn of_protobuf_the_kind_of_the_envelope_is_read() {
        let envelope = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x00\x1a\x00\x22\x00";
        assert_eq!(read_as("application/vnd.kubernetes.protobuf", envelope), json!({"$protobuf": "v1 ConfigMap"}));
        assert_eq!(read_as("application/vnd.kubernetes.protobuf", b"k8s\0\x0a"), json!({"$protobuf": "?"}));
        assert_eq!(read_as("application/vnd.kubernetes.protobuf", b"\0\0\0\x01x"), json!({"$binary": true}));
    }

    #[test]
    fn gzip_is_decompressed() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"[1]").unwrap();
        let headers = vec![
            ("content-type".to_string(), "application/json".to_string()),
            ("content-encoding".into(), "gzip".into()),
        ];
        assert_eq!(read(&headers, &encoder.finish().unwrap()).unwrap(), json!([1]));
        assert!(read(&headers, b"[1]").is_err());
    }
}
