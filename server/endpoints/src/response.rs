//! Responses: objects, lists, tables, metadata and statuses in the negotiated encoding and form.

use apimachinery::meta::v1::ListMeta;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use machinery::catalog::KindDef;
use machinery::def::JsonForm;
use machinery::reflect::{Owned, Ref};
use machinery::status::Status;
use machinery::{cbor, envelope, json, yaml};
use request::{Body, Response};

use crate::media::{Accepted, Encoding};

/// An object to encode: its kind, version and value.
pub struct Typed<'a> {
    pub api_version: &'a str,
    pub kind: &'a str,
    pub value: Ref<'a>,
}

/// Header map capacity for most responses, including headers that filters and hyper add.
const HEADER_CAPACITY: usize = 8;
/// Initial buffer capacity that holds most objects without reallocation.
const INITIAL_CAPACITY: usize = 8 << 10;

/// Encodes an object.
pub fn encode(object: &Typed<'_>, accepted: &Accepted) -> Result<Vec<u8>, Status> {
    let mut out = Vec::with_capacity(INITIAL_CAPACITY);
    match accepted.encoding {
        Encoding::Protobuf if object.value.def().json_form == JsonForm::Open => {
            return Err(no_protobuf("unstructured.Unstructured"));
        }
        Encoding::Protobuf => envelope::encode_object(object.api_version, object.kind, object.value, &mut out),
        Encoding::Json => {
            json::encode_object(object.api_version, object.kind, object.value, &mut out);
            if accepted.pretty {
                let compact = std::mem::take(&mut out);
                json::pretty(&compact, &mut out);
            } else {
                out.push(b'\n');
            }
        }
        Encoding::Yaml => {
            yaml::encode_object(object.api_version, object.kind, object.value, &mut out).map_err(Status::internal)?
        }
        Encoding::Cbor => cbor::encode_object(object.api_version, object.kind, object.value, &mut out),
    }
    Ok(out)
}

/// Converts a JSON text to YAML or CBOR and appends it; other encodings get the text unchanged.
pub fn rewrite(text: &[u8], encoding: Encoding, out: &mut Vec<u8>) -> Result<(), Status> {
    match encoding {
        Encoding::Yaml => yaml::from_json(text, out).map_err(Status::internal),
        Encoding::Cbor => cbor::from_json(text, out).map_err(Status::internal),
        Encoding::Json | Encoding::Protobuf => {
            out.extend_from_slice(text);
            Ok(())
        }
    }
}

/// Returns 406 for a protobuf request of a Go type without protobuf marshalling.
pub fn no_protobuf(go_type: &str) -> Status {
    let message = format!(
        "object *{go_type} does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message"
    );
    Status::new(406, "NotAcceptable", message)
}

/// Builds a response with a body of this encoding.
pub fn respond(code: StatusCode, encoding: Encoding, body: impl Into<bytes::Bytes>) -> Response {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = code;
    *response.headers_mut() = HeaderMap::with_capacity(HEADER_CAPACITY);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(encoding.media_type()));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// Converts an object from hub form to the version of `kind`.
pub fn in_version(kind: &KindDef, hub: Owned) -> Owned {
    kind.from_hub(hub)
}

/// Responds with an object.
pub fn object(code: StatusCode, kind: &KindDef, hub: Owned, accepted: &Accepted) -> Result<Response, Status> {
    let value = in_version(kind, hub);
    let api_version = kind.api_version();
    let typed = Typed { api_version: &api_version, kind: kind.kind, value: value.as_ref() };
    Ok(respond(code, accepted.encoding, encode(&typed, accepted)?))
}

/// Responds with an object that is not stored. `empty` has JSON pointers to lists that are written
/// as `[]`. Go distinguishes an empty list from an absent list until an object is stored.
pub fn object_with_empty(
    code: StatusCode,
    kind: &KindDef,
    hub: Owned,
    empty: &[String],
    accepted: &Accepted,
) -> Result<Response, Status> {
    if empty.is_empty() || accepted.encoding == Encoding::Protobuf {
        return object(code, kind, hub, accepted);
    }
    let (value, mut text) = (in_version(kind, hub), Vec::with_capacity(INITIAL_CAPACITY));
    json::encode_object(&kind.api_version(), kind.kind, value.as_ref(), &mut text);
    let mut document = json::parse(&text, &mut json::Issues::ignore()).map_err(Status::internal)?;
    for pointer in empty {
        if let Some(value) = document.pointer_mut(pointer).filter(|value| value.is_null()) {
            *value = serde_json::Value::Array(Vec::new());
        }
    }
    text.clear();
    json::encode_value_in_order(&document, &mut text);
    let mut out = Vec::with_capacity(text.len());
    match (accepted.encoding, accepted.pretty) {
        (Encoding::Json, true) => json::pretty(&text, &mut out),
        (Encoding::Json, false) => {
            out = text;
            out.push(b'\n');
        }
        (other, _) => rewrite(&text, other, &mut out)?,
    }
    Ok(respond(code, accepted.encoding, out))
}

/// Builds the metadata of a list.
pub fn list_meta(revision: u64, continue_token: String, remaining: Option<i64>) -> ListMeta {
    ListMeta {
        // Objects that are not stored have no revision.
        resource_version: if revision == 0 { String::new() } else { revision.to_string() },
        r#continue: continue_token,
        remaining_item_count: remaining,
        ..ListMeta::default()
    }
}

/// Responds with a failure, in the requested encoding if the Status can be encoded in it.
pub fn failure(status: &Status, encoding: Encoding, pretty: bool) -> Response {
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut typed = Owned::new(<apimachinery::meta::v1::Status as machinery::reflect::Struct>::def());
    let text = status.to_json();
    let retry = status.details.as_ref().map_or(0, |d| d.retry_after_seconds);
    let mut response = match encoding {
        Encoding::Json if pretty => respond(code, Encoding::Json, status.to_pretty_json()),
        Encoding::Json => respond(code, Encoding::Json, text),
        other => {
            let decoded = json::decode(&text, typed.as_mut(), &mut json::Issues::ignore());
            let object = Typed { api_version: "v1", kind: "Status", value: typed.as_ref() };
            let accepted =
                Accepted { encoding: other, form: crate::media::Representation::Object, pretty: false, stream: false };
            match decoded.map_err(Status::internal).and_then(|()| encode(&object, &accepted)) {
                Ok(body) => respond(code, other, body),
                Err(_) => respond(code, Encoding::Json, text),
            }
        }
    };
    if retry > 0 {
        response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from(retry));
    }
    response
}

/// Responds with `{"kind":"Status",...,"status":"Success"}`: the response to a delete that returns
/// no object.
pub fn success(kind: &KindDef, plural: &str, name: &str, uid: &str, accepted: &Accepted) -> Result<Response, Status> {
    let mut value = apimachinery::meta::v1::Status { status: "Success".into(), ..Default::default() };
    value.details = Some(Box::new(apimachinery::meta::v1::StatusDetails {
        name: name.into(),
        group: kind.group.into(),
        kind: plural.into(),
        uid: uid.into(),
        ..Default::default()
    }));
    let typed = Typed { api_version: "v1", kind: "Status", value: Ref::of(&value) };
    Ok(respond(StatusCode::OK, accepted.encoding, encode(&typed, accepted)?))
}

/// Responds to the deletion of an unreadable object. `details.kind` is the kind and not the plural.
pub fn deleted_unreadable(kind: &KindDef, name: &str, accepted: &Accepted) -> Result<Response, Status> {
    let details = apimachinery::meta::v1::StatusDetails {
        name: name.into(),
        group: kind.group.into(),
        kind: kind.kind.into(),
        ..Default::default()
    };
    let details = Some(Box::new(details));
    let value = apimachinery::meta::v1::Status { status: "Success".into(), code: 200, details, ..Default::default() };
    let typed = Typed { api_version: "v1", kind: "Status", value: Ref::of(&value) };
    Ok(respond(StatusCode::OK, accepted.encoding, encode(&typed, accepted)?))
}

/// Responds to a POST that returns no object.
pub fn created(accepted: &Accepted) -> Result<Response, Status> {
    let value = apimachinery::meta::v1::Status { status: "Success".into(), code: 201, ..Default::default() };
    let typed = Typed { api_version: "v1", kind: "Status", value: Ref::of(&value) };
    Ok(respond(StatusCode::CREATED, accepted.encoding, encode(&typed, accepted)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn indents_failures_if_pretty() {
        let status = Status::not_found(machinery::status::GroupResource { group: "", resource: "pods" }, "a");
        let body = async |pretty| failure(&status, Encoding::Json, pretty).into_body().read(1 << 20).await.unwrap();
        assert!(body(true).await.starts_with(b"{\n  \"kind\": \"Status\""));
        assert!(body(false).await.starts_with(b"{\"kind\":\"Status\""));
    }
}
