//! Raw values that are not decoded: embedded objects, arbitrary JSON, the sets of managed fields.
//!
//! The bytes are unchanged in protobuf; the JSON encoder compacts them, like Go's. The encoders do
//! not validate the bytes: code that receives them from a client calls `validate` once.

use super::error::ScalarError;
use super::json_text;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;

/// The encoding of a [`RawExtension`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawContent {
    /// Nothing: the value is `null`.
    Empty,
    /// JSON text.
    Json,
    /// CBOR with the self-described tag.
    Cbor,
    /// A protobuf envelope, `k8s\0` and a `runtime.Unknown`.
    Protobuf,
    /// An unknown encoding, which upstream refuses to show.
    Unknown,
}

/// Defines a type that holds JSON bytes.
macro_rules! raw_json {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, Hash)]
        pub struct $name(Bytes);

        impl $name {
            /// Wraps bytes without validation; empty bytes stand for `null`.
            pub const fn new(raw: Bytes) -> Self {
                Self(raw)
            }

            /// Wraps the text of one JSON value, which the caller has validated; `null` becomes
            /// empty.
            pub fn from_json(json: Bytes) -> Self {
                Self(if json.as_ref() == b"null" { Bytes::new() } else { json })
            }

            /// The unchanged bytes.
            pub fn as_bytes(&self) -> &Bytes {
                &self.0
            }

            /// Whether the value is `null`.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Checks that the bytes are empty or a single JSON value.
            ///
            /// # Errors
            /// [`ScalarError::JsonSyntax`] when the bytes are not one JSON value.
            pub fn validate(&self) -> Result<(), ScalarError> {
                if self.is_empty() { Ok(()) } else { json_text::validate(&self.0) }
            }

            /// Appends compact JSON with the escapes of Go's encoder.
            pub fn append_json(&self, out: &mut Vec<u8>) {
                if self.is_empty() {
                    out.extend_from_slice(b"null");
                } else {
                    json_text::append_compact(out, &self.0);
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), self.0)
            }
        }

        impl From<&str> for $name {
            fn from(json: &str) -> Self {
                Self::from_json(Bytes::copy_from_slice(json.as_bytes()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize_raw(&self.0, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = Box::<RawValue>::deserialize(deserializer)?;
                Ok(Self::from(raw.get()))
            }
        }
    };
}

raw_json! {
    /// An embedded object of any kind (upstream `runtime.RawExtension`): JSON, or the encoding of
    /// its watch event.
    RawExtension
}

raw_json! {
    /// Any JSON value (upstream `apiextensions.JSON`).
    JsonValue
}

raw_json! {
    /// A set of fields in the notation of managed fields (upstream `metav1.FieldsV1`).
    FieldsV1
}

impl RawExtension {
    /// The encoding, determined by the first bytes (upstream `guessContentType`).
    pub fn content(&self) -> RawContent {
        match self.0.as_ref() {
            [] => RawContent::Empty,
            [0xd9, 0xd9, 0xf7, ..] => RawContent::Cbor,
            [b'k', b'8', b's', 0, ..] => RawContent::Protobuf,
            [b'\t' | b'\r' | b'\n' | b' ' | b'{' | b'[' | b'n' | b't' | b'f' | b'"' | b'-' | b'0'..=b'9', ..] => {
                RawContent::Json
            }
            _ => RawContent::Unknown,
        }
    }
}

fn serialize_raw<S: Serializer>(raw: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::Error;
    if raw.is_empty() {
        return serializer.serialize_unit();
    }
    json_text::validate(raw).map_err(S::Error::custom)?;
    let mut compact = Vec::with_capacity(raw.len());
    json_text::append_compact(&mut compact, raw);
    let compact = String::from_utf8(compact).map_err(S::Error::custom)?;
    RawValue::from_string(compact).map_err(S::Error::custom)?.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: &RawExtension) -> String {
        let mut out = Vec::new();
        value.append_json(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn keeps_bytes_and_compacts_on_output() {
        let value = RawExtension::from("{ \"a\" : \"<\" }");
        assert_eq!(value.as_bytes().as_ref(), b"{ \"a\" : \"<\" }");
        assert_eq!(json(&value), "{\"a\":\"\\u003c\"}");
        assert_eq!(json(&RawExtension::default()), "null");
        assert!(RawExtension::from("null").is_empty());
    }

    #[test]
    fn round_trips_through_serde() {
        let text = "{\"raw\": {\"b\" : 1.50}, \"any\": null, \"fields\": {\"f:a\":{}}}";
        #[derive(Serialize, Deserialize)]
        struct Holder {
            raw: RawExtension,
            any: JsonValue,
            fields: FieldsV1,
        }
        let holder: Holder = serde_json::from_str(text).unwrap();
        assert_eq!(
            serde_json::to_string(&holder).unwrap(),
            "{\"raw\":{\"b\":1.50},\"any\":null,\"fields\":{\"f:a\":{}}}"
        );
        assert!(serde_json::to_string(&JsonValue::from("{")).is_err());
    }

    #[test]
    fn detects_encodings() {
        let cases: &[(&[u8], RawContent)] = &[
            (b"", RawContent::Empty),
            (b" {}", RawContent::Json),
            (b"-1", RawContent::Json),
            (b"\xd9\xd9\xf7\xa0", RawContent::Cbor),
            (b"k8s\0\x0a", RawContent::Protobuf),
            (b"k8s", RawContent::Unknown),
        ];
        for (bytes, expect) in cases {
            assert_eq!(RawExtension::new(Bytes::from_static(bytes)).content(), *expect, "{bytes:?}");
        }
    }

    #[test]
    fn validates_content() {
        assert!(FieldsV1::default().validate().is_ok());
        assert!(FieldsV1::from("{\"f:spec\":{}}").validate().is_ok());
        assert!(FieldsV1::from("{\"f:spec\":}").validate().is_err());
    }
}
