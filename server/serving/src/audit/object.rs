//! Objects in answers, as far as the front knows them: statuses and other documents that are there as a whole.

use apimachinery::meta::v1::Status;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use machinery::json::{self, Issues};
use machinery::reflect::Mut;
use machinery::type_meta::TypeMeta;
use machinery::{envelope, protobuf, yaml};
use serde_json::Value;

use crate::handler::Response;

/// The Status that an answer is, without what every one of them says of itself.
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

/// The JSON of an answer that says which kind it is.
pub(super) fn typed(response: &Response) -> Option<Bytes> {
    let bytes = response.body().known()?;
    (media_type(response) == "application/json" && bytes.starts_with(b"{\"kind\":")).then(|| bytes.clone())
}

fn media_type(response: &Response) -> &str {
    let said = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    said.split(';').next().unwrap_or_default()
}

/// Whether a JSON object names this kind first, as objects of declared kinds do.
fn begins_as(bytes: &[u8], kind: &str) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(64)]);
    let compact: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    compact.starts_with(&format!("{{\"kind\":\"{kind}\","))
}

fn decode(json: &[u8], status: &mut Status) -> Option<()> {
    json::decode(json, Mut::of(status), &mut Issues::ignore()).ok()
}

/// An object, list or table without the fields' managers.
pub(super) fn without_managed_fields(json: Bytes) -> Bytes {
    let Ok(mut value) = serde_json::from_slice::<Value>(&json) else { return json };
    forget_managers(&mut value);
    for item in value.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
        forget_managers(item);
    }
    for row in value.get_mut("rows").and_then(Value::as_array_mut).into_iter().flatten() {
        row.get_mut("object").map(forget_managers);
    }
    value.to_string().into()
}

fn forget_managers(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        // What stands behind it stays in its order.
        metadata.shift_remove("managedFields");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managers_are_left_out() {
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
