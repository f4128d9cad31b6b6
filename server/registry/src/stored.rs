//! Conversion between hub objects and stored bytes.

use std::mem::take;

use machinery::catalog::KindDef;
use machinery::protobuf::Mask;
use machinery::reflect::{Owned, Ref};
use machinery::status::Status;
use machinery::{defaulting, envelope, json, protobuf};
use storage::cache::Entry;

use crate::metadata::meta_mut;
use crate::versions::is_text;

/// Encodes a hub object in its storage form, without resourceVersion and selfLink. The object keeps them.
pub(crate) fn encode(kind: &'static KindDef, as_json: bool, object: &mut Owned) -> Vec<u8> {
    let (api_version, mut out) = (kind.api_version(), Vec::new());
    without_revision(object, |object| {
        with_stored(kind, object, |value| {
            if as_json {
                json::encode_object(&api_version, kind.kind, value, &mut out);
                out.push(b'\n');
            } else {
                envelope::encode_object(&api_version, kind.kind, value, &mut out);
            }
        });
    });
    out
}

/// Whether [`encode`] returns these bytes for a hub object, in protobuf.
pub(crate) fn encodes_to(kind: &'static KindDef, object: &mut Owned, bytes: &[u8]) -> bool {
    let is_same = |value: Ref<'_>| envelope::encodes_to(&kind.api_version(), kind.kind, value, bytes);
    without_revision(object, |object| with_stored(kind, object, is_same))
}

/// Passes an object without resourceVersion and selfLink to `f`. The object keeps them.
fn without_revision<R>(object: &mut Owned, f: impl FnOnce(&Owned) -> R) -> R {
    let kept = meta_mut(object).map(|meta| (take(&mut meta.resource_version), take(&mut meta.self_link)));
    let result = f(object);
    if let (Some(meta), Some(kept)) = (meta_mut(object), kept) {
        (meta.resource_version, meta.self_link) = kept;
    }
    result
}

/// Passes a hub object in its storage version to `f`; most need no conversion.
fn with_stored<R>(kind: &'static KindDef, object: &Owned, f: impl FnOnce(Ref<'_>) -> R) -> R {
    match kind.conversion {
        None => f(object.as_ref()),
        Some(_) => f(kind.from_hub(object.clone()).as_ref()),
    }
}

/// Returns whether a hub object equals that of an entry.
pub(crate) fn is_same(kind: &'static KindDef, object: &Owned, entry: &Entry) -> bool {
    with_stored(kind, object, |value| protobuf::encodes_to(value, &entry.object))
}

/// Compares two JSON objects regardless of the order of fields, which differs after a conversion.
pub(crate) fn is_same_json(one: &[u8], other: &[u8]) -> bool {
    let read = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
    one == other || (one.len() == other.len() && read(one).is_some_and(|one| Some(one) == read(other)))
}

/// Decodes the hub object of an entry, with the resourceVersion of its revision. A mask limits the
/// decoded fields.
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

/// Applies the defaults of the storage version to a hub object.
pub(crate) fn with_defaults(kind: &'static KindDef, object: Owned) -> Owned {
    if !defaulting::has_defaults(kind.def) {
        return object;
    }
    let mut value = kind.from_hub(object);
    defaulting::apply_defaults(value.as_mut());
    kind.to_hub(value)
}

/// Converts an error of the store to the Status for a client.
pub(crate) fn failure(error: storage::Error) -> Status {
    match error {
        storage::Error::Compacted { .. } => expired(),
        storage::Error::FutureRevision { requested, current } => too_large_resource_version(requested, current),
        storage::Error::NoSpace { .. } => Status::new(507, "InsufficientStorage", error.to_string()),
        storage::Error::Closed => Status::service_unavailable("the server is shutting down"),
        other => Status::internal(other),
    }
}

/// Returns the error for a revision that is compacted.
pub(crate) fn expired() -> Status {
    Status::expired("The provided resource version is too old.")
}

/// `NewTooLargeResourceVersionError`
pub(crate) fn too_large_resource_version(wanted: u64, current: u64) -> Status {
    let message = format!("Too large resource version: {wanted}, current: {current}");
    let mut status = Status::timeout(message, 1);
    if let Some(details) = &mut status.details {
        details.causes.push(machinery::status::Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        });
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_comparison_ignores_the_order_of_fields() {
        let check = |one: &str, other: &str, expect: bool| {
            assert_eq!(is_same_json(one.as_bytes(), other.as_bytes()), expect, "{one} {other}");
        };
        check(r#"{"a":1,"b":{"c":[1,2],"d":"x"}}"#, r#"{"b":{"d":"x","c":[1,2]},"a":1}"#, true);
        check(r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#, false);
        check(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false);
        check("not JSON", "not JSON", true);
    }
}
