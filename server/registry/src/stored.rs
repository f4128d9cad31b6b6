//! Between hub objects and stored bytes.

use std::mem::take;

use machinery::catalog::KindDef;
use machinery::protobuf::Mask;
use machinery::reflect::{Owned, Ref};
use machinery::status::Status;
use machinery::{defaulting, envelope, json, protobuf};
use storage::cache::Entry;

use crate::metadata::meta_mut;
use crate::open::is_text;

/// The bytes of a hub object in its storage form; resourceVersion and selfLink, which the object keeps, are not stored.
pub(crate) fn encode(kind: &'static KindDef, as_json: bool, object: &mut Owned) -> Vec<u8> {
    let kept = meta_mut(object).map(|meta| (take(&mut meta.resource_version), take(&mut meta.self_link)));
    let api_version = kind.api_version();
    let mut out = Vec::with_capacity(1024);
    with_stored(kind, object, |value| {
        if as_json {
            json::encode_object(&api_version, kind.kind, value, &mut out);
            out.push(b'\n');
        } else {
            envelope::encode_object(&api_version, kind.kind, value, &mut out);
        }
    });
    if let (Some(meta), Some(kept)) = (meta_mut(object), kept) {
        (meta.resource_version, meta.self_link) = kept;
    }
    out
}

/// Lends a hub object in its storage version, which most are in.
fn with_stored(kind: &'static KindDef, object: &Owned, f: impl FnOnce(Ref<'_>)) {
    match kind.conversion {
        None => f(object.as_ref()),
        Some(_) => f(kind.from_hub(object.clone()).as_ref()),
    }
}

/// Whether a hub object is what an entry holds.
pub(crate) fn is_same(kind: &'static KindDef, object: &Owned, entry: &Entry) -> bool {
    let mut raw = Vec::with_capacity(entry.object.len() + 64);
    with_stored(kind, object, |value| protobuf::encode(value, &mut raw));
    raw == entry.object
}

/// Whether two objects in JSON say the same, in whatever order: objects that come from another version have their fields in another one.
pub(crate) fn says_the_same(one: &[u8], other: &[u8]) -> bool {
    let read = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
    one == other || (one.len() == other.len() && read(one).is_some_and(|one| Some(one) == read(other)))
}

/// The hub object of an entry, with the resourceVersion of its revision; no more of it than the mask wants, if there is one.
pub(crate) fn decode(kind: &'static KindDef, entry: &Entry, mask: Option<&Mask>) -> Result<Owned, Status> {
    let mut value = Owned::new(kind.def);
    if is_text(kind) {
        json::decode(&entry.object, value.as_mut(), &mut json::Issues::ignore()).map_err(Status::internal)?;
        return Ok(value);
    }
    let decoded = match mask {
        Some(mask) => protobuf::decode_masked(&entry.object, mask, value.as_mut()),
        None => protobuf::decode(&entry.object, value.as_mut()),
    };
    decoded.map_err(|why| {
        let key = String::from_utf8_lossy(&entry.key);
        Status::internal(format!("unable to transform key {key:?}: {why}"))
    })?;
    let mut hub = kind.to_hub(value);
    defaulting::normalize(hub.as_mut());
    Ok(hub)
}

/// A hub object with the defaults of its stored version.
pub(crate) fn with_defaults(kind: &'static KindDef, object: Owned) -> Owned {
    if !defaulting::has_defaults(kind.def) {
        return object;
    }
    let mut value = kind.from_hub(object);
    defaulting::apply_defaults(value.as_mut());
    kind.to_hub(value)
}

/// What a client is told of a failure of the store.
pub(crate) fn failure(error: storage::Error) -> Status {
    match error {
        storage::Error::Compacted { .. } => expired(),
        storage::Error::FutureRevision { requested, current } => {
            crate::resource::too_large_resource_version(requested, current)
        }
        storage::Error::NoSpace { .. } => Status::new(507, "InsufficientStorage", error.to_string()),
        storage::Error::Closed => Status::service_unavailable("the server is shutting down"),
        other => Status::internal(other),
    }
}

/// The revision asked for is no longer kept.
pub(crate) fn expired() -> Status {
    Status::expired("The provided resource version is too old.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_fields_is_no_change() {
        let check = |one: &str, other: &str, expect: bool| {
            assert_eq!(says_the_same(one.as_bytes(), other.as_bytes()), expect, "{one} {other}");
        };
        check(r#"{"a":1,"b":{"c":[1,2],"d":"x"}}"#, r#"{"b":{"d":"x","c":[1,2]},"a":1}"#, true);
        check(r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#, false);
        check(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false);
        check("not JSON", "not JSON", true);
    }
}
