//! Between hub objects and stored bytes.

use machinery::catalog::KindDef;
use machinery::reflect::Owned;
use machinery::status::Status;
use machinery::{envelope, json, protobuf};
use storage::KeyValue;

use crate::metadata::meta_mut;

/// The bytes of a hub object in its storage form; resourceVersion and selfLink are not stored.
pub(crate) fn encode(kind: &'static KindDef, as_json: bool, mut object: Owned) -> Vec<u8> {
    if let Some(meta) = meta_mut(&mut object) {
        meta.resource_version.clear();
        meta.self_link.clear();
    }
    let value = kind.from_hub(object);
    let api_version = kind.api_version();
    let mut out = Vec::with_capacity(1024);
    if as_json {
        json::encode_object(&api_version, kind.kind, value.as_ref(), &mut out);
        out.push(b'\n');
    } else {
        envelope::encode_object(&api_version, kind.kind, value.as_ref(), &mut out);
    }
    out
}

/// The hub object of stored bytes, with the resourceVersion of its revision.
pub(crate) fn decode(kind: &'static KindDef, kv: &KeyValue) -> Result<Owned, Status> {
    let mut value = Owned::new(kind.def);
    let outcome = if envelope::is_envelope(&kv.value) {
        envelope::split(&kv.value)
            .map_err(|e| e.to_string())
            .and_then(|parts| protobuf::decode(parts.raw, value.as_mut()).map_err(|e| e.to_string()))
    } else {
        json::decode(&kv.value, value.as_mut(), &mut json::Issues::ignore()).map_err(|e| e.to_string())
    };
    if let Err(why) = outcome {
        let key = String::from_utf8_lossy(&kv.key);
        return Err(Status::internal(format!("unable to transform key {key:?}: {why}")));
    }
    let mut object = kind.to_hub(value);
    if let Some(meta) = meta_mut(&mut object) {
        meta.resource_version = kv.mod_revision.to_string();
    }
    Ok(object)
}

/// What a client is told of a failure of the store.
pub(crate) fn failure(error: storage::Error) -> Status {
    match error {
        storage::Error::Compacted { .. } => expired(),
        storage::Error::FutureRevision { requested, current } => {
            crate::resource::too_large_resource_version(requested, current)
        }
        storage::Error::Closed => Status::service_unavailable("the server is shutting down"),
        other => Status::internal(other),
    }
}

/// The revision asked for is no longer kept.
pub(crate) fn expired() -> Status {
    Status::expired("The provided resource version is too old.")
}
