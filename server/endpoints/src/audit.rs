//! Audit records of request and response objects, as JSON in the version of the request.

use std::sync::Arc;

use apimachinery::meta::v1::ListMeta;
use audit::{AuditContext, Level};
use machinery::catalog::{Catalog, KindDef, parse_api_version};
use machinery::envelope::{self, Envelope};
use machinery::json::{self, Issues};
use machinery::reflect::{Owned, Ref, Struct};
use machinery::status::Status;
use machinery::{protobuf, yaml};
use registry::meta;
use request::body::ReadError;
use request::{Body, Response, User};
use serving::work::memory::{self, HeldMemory};

use crate::media::Encoding;

/// Records a request object, given in hub form with defaults (`audit.LogRequestObject`).
pub fn record_request(trail: &AuditContext, kind: &KindDef, object: &Owned) {
    if let Some(meta) = meta(object.as_ref()) {
        trail.name(meta);
    }
    if trail.reaches(Level::Request) {
        trail.request_object(text(&kind.api_version(), kind.kind, kind.from_hub(object.clone()).as_ref()));
    }
}

/// Records a response object, given in hub form.
pub fn record_response_object(trail: &AuditContext, kind: &KindDef, object: &Owned) {
    if trail.reaches(Level::RequestResponse) {
        trail.response_object(text(&kind.api_version(), kind.kind, kind.from_hub(object.clone()).as_ref()));
    }
}

/// Records options that are the request body.
pub fn record_options<T: Struct>(trail: &AuditContext, options: &T, kind: &str) {
    if trail.reaches(Level::Request) {
        trail.request_object(text("meta.k8s.io/v1", kind, Ref::of(options)));
    }
}

/// Records a patch (`audit.LogRequestPatch`).
pub fn record_patch(trail: &AuditContext, patch: &bytes::Bytes) {
    if !trail.reaches(Level::Request) {
        return;
    }
    let is_json = matches!(patch.trim_ascii_start().first(), Some(b'{' | b'['));
    match is_json {
        true if json::is_valid(patch) => trail.request_object(patch.clone()),
        true => {}
        false => {
            if let Ok(text) = yaml::to_json(patch, &mut Issues::ignore()) {
                trail.request_object(text);
            }
        }
    }
}

/// Bytes per response byte that an audit event takes: the response, its JSON form and the log line.
const PER_ANSWERED_BYTE: u64 = 3;

/// Records the response object (`audit.LogResponseObject`). A streamed response is collected first.
///
/// # Errors
/// Returns 429 when the response to a read takes more memory than its user may hold. Responses to
/// writes are always recorded: their size is that of one object.
pub async fn record_response(
    trail: &AuditContext,
    catalog: &Catalog,
    response: Response,
    user: Option<&Arc<User>>,
) -> Result<Response, Status> {
    if !trail.reaches(Level::RequestResponse) {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let (mut held, mut counted) = (HeldMemory::default(), 0);
    let count = |length: usize| match user {
        Some(user) if length as u64 > memory::SMALL => {
            let added = (length as u64 - counted) * PER_ANSWERED_BYTE;
            counted = length as u64;
            held.add(user, added)
        }
        _ => Ok(()),
    };
    let bytes = match body.read_counted(usize::MAX, count).await {
        Ok(bytes) => bytes,
        Err(ReadError::NoMemory(exceeded)) => return Err(exceeded.into()),
        Err(_) => return Ok(Response::from_parts(parts, Body::empty())),
    };
    let media_type = parts.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let of = |encoding: Encoding| media_type.is_some_and(|value| value.starts_with(encoding.media_type()));
    let json = if of(Encoding::Json) {
        Some(bytes.clone())
    } else if of(Encoding::Yaml) {
        yaml::to_json(&bytes, &mut Issues::ignore()).ok().map(Into::into)
    } else {
        of_protobuf(catalog, &bytes).map(Into::into)
    };
    if let Some(json) = json {
        trail.response_object(json);
    }
    Ok(Response::from_parts(parts, Body::full(bytes)))
}

/// Converts an object or a list from protobuf to JSON.
fn of_protobuf(catalog: &Catalog, bytes: &[u8]) -> Option<Vec<u8>> {
    let parts = envelope::split(bytes).ok()?;
    let (group, version) = parse_api_version(parts.api_version);
    let of_everywhere = || catalog.kind("meta.k8s.io", "v1", parts.kind);
    match catalog.kind(group, version, parts.kind).or_else(of_everywhere) {
        Some(kind) => {
            let mut out = Vec::new();
            protobuf::object_to_json(parts.api_version, parts.kind, kind.def, parts.raw, &mut out).ok()?;
            Some(out)
        }
        None => {
            let is_of_list = |k: &&KindDef| (k.group, k.version, k.list_kind) == (group, version, parts.kind);
            list_of_protobuf(catalog.kinds.iter().find(is_of_list)?, &parts)
        }
    }
}

fn list_of_protobuf(kind: &KindDef, list: &Envelope<'_>) -> Option<Vec<u8>> {
    let (meta, items) = envelope::list_parts(list.raw).ok()?;
    let head = format!("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":", list.kind, list.api_version);
    let mut out = head.into_bytes();
    protobuf::to_json(ListMeta::def(), meta, &mut out).ok()?;
    out.extend_from_slice(b",\"items\":[");
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        protobuf::to_json(kind.def, item, &mut out).ok()?;
    }
    out.extend_from_slice(b"]}");
    Some(out)
}

fn text(api_version: &str, kind: &str, value: Ref<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    json::encode_object(api_version, kind, value, &mut out);
    out
}
