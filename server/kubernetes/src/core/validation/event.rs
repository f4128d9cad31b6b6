//! Events of `events.k8s.io/v1`, which are checked strictly (`pkg/apis/core/validation/events.go`).

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::json_name;

use generated::core::v1::Event;
use generated::meta::v1::ObjectMeta;
use meta::{validate_object_meta, validate_object_meta_update, validate_qualified_finalizers};

/// By hand: the metadata of other events is not looked at, and that of new ones and of changes is here.
pub fn validate_event_metadata(v: &mut Validation<'_>, path: &Path<'_>, new: &ObjectMeta, old: Option<&ObjectMeta>) {
    match old {
        None => validate_object_meta(v, path, new, true, NameRule::Dns1123Subdomain),
        Some(old) => validate_object_meta_update(v, path, new, old),
    }
    validate_qualified_finalizers(v, &path.child(json_name!(ObjectMeta.finalizers)), &new.finalizers);
}

/// By hand: the message repeats the type instead of showing it.
pub fn validate_event_type(v: &mut Validation<'_>, path: &Path<'_>, event: &Event, _: Option<&Event>) {
    v.invalid(&path.child(json_name!(Event.r#type)), "", format!("has invalid value: {}", event.r#type));
}
