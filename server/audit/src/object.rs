//! Objects in buffered response bodies: Statuses and other JSON objects.

use apimachinery::meta::v1::Status;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use machinery::json::{self, Issues};
use machinery::reflect::Mut;
use machinery::type_meta::TypeMeta;
use machinery::{envelope, protobuf, yaml};
use request::Response;
use serde_json::Value;

/// Decodes the Status of a response, without kind and version.
pub(super) fn status(response: &Response) -> Option<Status> {
    let bytes = response.body().known()?;
    let mut status = Status::default();
    match media_type(response) {
        "application/json" if begins_as(bytes, "Status") => decode(bytes, &mut status)?,
        "application/yaml" if !response.status().is_success() => {
            decode(&yaml::to_json(bytes, &mut Issues::ignore()).ok()?, &mut status)?;
        }
        "application/vnd.kubernetes.protobuf" => {
            let parts = envelope::split(bytes).ok().filter(|parts| parts.kind == "Status")?;
            protobuf::decode(parts.raw, Mut::of(&mut status)).ok()?;
        }
        _ => return None,
    }
    status.type_meta = TypeMeta::default();
    Some(status)
}

/// Returns the body of a JSON response that begins with the field `kind`.
pub(super) fn typed(response: &Response) -> Option<Bytes> {
    let bytes = response.body().known()?;
    (media_type(response) == "application/json" && bytes.starts_with(b"{\"kind\":")).then(|| bytes.clone())
}

fn media_type(response: &Response) -> &str {
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default()
}

/// Whether the first field of a JSON object is this `kind`, as in the encoding of built-in kinds.
fn begins_as(bytes: &[u8], kind: &str) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(64)]);
    let compact: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    compact.starts_with(&format!("{{\"kind\":\"{kind}\","))
}

fn decode(json: &[u8], status: &mut Status) -> Option<()> {
    json::decode(json, Mut::of(status), &mut Issues::ignore()).ok()
}

/// Removes `managedFields` from an object, or from the items of a list or table.
pub(super) fn without_managed_fields(json: Bytes) -> Bytes {
    let Ok(mut value) = serde_json::from_slice::<Value>(&json) else { return json };
    remove_managed_fields(&mut value);
    for item in value.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
        remove_managed_fields(item);
    }
    for row in value.get_mut("rows").and_then(Value::as_array_mut).into_iter().flatten() {
        row.get_mut("object").map(remove_managed_fields);
    }
    value.to_string().into()
}

fn remove_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        // `shift_remove` keeps the order of the other fields.
        metadata.shift_remove("managedFields");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_managed_fields() {
        let check = |json: &'static str, expect: &str| {
            assert_eq!(without_managed_fields(Bytes::from(json)), expect);
        };
        check(
            r#"{"kind":"Pod","metadata":{"a":1,"managedFields":[{}],"b":2},"x":[{"metadata":{"managedFields":1}}]}"#,
            r#"{"kind":"Pod","metadata":{"a":1,"b":2},"x":[{"metadata":{"managedFields":1}}]}"#,
        );
        check(
            r#"{"metadata":{},"items":[{"metadata":{"managedFields":[]}}]}"#,
            r#"{"metadata":{},"items":[{"metadata":{}}]}"#,
        );
        check(r#"{"rows":[{"object":{"metadata":{"managedFields":[]}}}]}"#, r#"{"rows":[{"object":{"metadata":{}}}]}"#);
        check("no object", "no object");
    }
}
