//! What the registry asks of any object, whatever its kind (`rest.BeforeCreate`, `rest.validateCommonFields`).

use apimachinery::hatches::meta::{validate_object_meta, validate_object_meta_update};
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::{Context, Validation};
use machinery::reflect::Ref;

use crate::metadata::meta;

/// Metadata, with a name that can be requested; on update also what may not change.
pub(crate) fn common(
    context: &Context,
    new: Ref<'_>,
    old: Option<Ref<'_>>,
    namespaced: bool,
    errors: &mut Vec<FieldError>,
) {
    let Some(new) = meta(new) else { return };
    let (mut v, path) = (Validation { context, errors }, Path::new("metadata"));
    validate_object_meta(&mut v, &path, new, namespaced, NameRule::PathSegment);
    if let Some(old) = old.and_then(meta) {
        validate_object_meta_update(&mut v, &path, new, old);
    }
}

/// Metadata as almost every kind's own validation begins: with the kind's rule for names, or with what may not change.
pub(crate) fn of_kind(
    context: &Context,
    new: Ref<'_>,
    old: Option<Ref<'_>>,
    (namespaced, names): (bool, NameRule),
    errors: &mut Vec<FieldError>,
) {
    let Some(new) = meta(new) else { return };
    let (mut v, path) = (Validation { context, errors }, Path::new("metadata"));
    match old.and_then(meta) {
        Some(old) => validate_object_meta_update(&mut v, &path, new, old),
        None => validate_object_meta(&mut v, &path, new, namespaced, names),
    }
}
