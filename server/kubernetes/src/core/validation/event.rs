//! Validation of events of `events.k8s.io/v1`, which is strict (`pkg/apis/core/validation/events.go`).

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::json_name;

use generated::core::v1::Event;
use generated::meta::v1::ObjectMeta;
use meta::{validate_object_meta, validate_object_meta_update, validate_qualified_finalizers};

/// Validates the metadata. Hand-written, because the metadata of other events is not validated, and
/// here that of creates and updates is.
pub fn validate_event_metadata(v: &mut Validation<'_>, path: &Path<'_>, new: &ObjectMeta, old: Option<&ObjectMeta>) {
    match old {
        None => validate_object_meta(v, path, new, true, NameRule::Dns1123Subdomain),
        Some(old) => validate_object_meta_update(v, path, new, old),
    }
    validate_qualified_finalizers(v, &path.child(json_name!(ObjectMeta.finalizers)), &new.finalizers);
}

/// Validates the type. Hand-written, because the message contains the type instead of showing it as the
/// value.
pub fn validate_event_type(v: &mut Validation<'_>, path: &Path<'_>, event: &Event, _: Option<&Event>) {
    v.invalid(&path.child(json_name!(Event.r#type)), "", format!("has invalid value: {}", event.r#type));
}
