//! Validation of the metadata of any kind (`rest.BeforeCreate`, `rest.validateCommonFields`).

use apimachinery::meta::v1::ObjectMeta;
use machinery::catalog::{MetadataCheck, ResourceDef};
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::{Validation, WriteContext};
use machinery::reflect::Ref;
use meta::{validate_object_meta, validate_object_meta_update, validate_qualified_finalizers};

use crate::metadata::meta;

/// Validates metadata with a name that can be requested; on update also immutable fields.
pub(crate) fn common(
    context: &WriteContext,
    new: Ref<'_>,
    old: Option<Ref<'_>>,
    namespaced: bool,
    errors: &mut Vec<FieldError>,
) {
    let Some(new) = meta(new) else { return };
    let (mut v, path) = (Validation::new(context, errors), Path::new("metadata"));
    validate_object_meta(&mut v, &path, new, namespaced, NameRule::PathSegment);
    if let Some(old) = old.and_then(meta) {
        validate_object_meta_update(&mut v, &path, new, old);
    }
}

/// Validates the metadata of an object as most kinds do before their own fields.
///
/// A new object is checked against the kind's name rule; in an update, immutable fields are compared.
pub fn of_kind(
    context: &WriteContext,
    new: Ref<'_>,
    old: Option<Ref<'_>>,
    def: &ResourceDef,
    errors: &mut Vec<FieldError>,
) {
    let Some(new) = meta(new) else { return };
    let (mut v, path) = (Validation::new(context, errors), Path::new("metadata"));
    let old = old.and_then(meta);
    let change = |v: &mut Validation<'_>| {
        if let Some(old) = old {
            validate_object_meta_update(v, &path, new, old);
            qualified_finalizers(v, def, new);
        }
    };
    let whole = |v: &mut Validation<'_>| {
        validate_object_meta(v, &path, new, def.namespaced, def.name_rule);
        qualified_finalizers(v, def, new);
    };
    let resets_metadata =
        def.subresources.iter().any(|s| s.name == context.subresource && s.resets.contains(&"metadata"));
    match def.metadata_check {
        MetadataCheck::Unchecked => {}
        // Updates of these kinds do not check immutable fields.
        MetadataCheck::Whole if resets_metadata => {}
        // A write of a subresource always changes an existing object.
        _ if !context.subresource.is_empty() => change(&mut v),
        _ if old.is_none() => whole(&mut v),
        MetadataCheck::Change => change(&mut v),
        MetadataCheck::Whole => whole(&mut v),
        MetadataCheck::Both => {
            change(&mut v);
            whole(&mut v);
        }
        MetadataCheck::WholeAndChange => {
            whole(&mut v);
            change(&mut v);
        }
    }
}

fn qualified_finalizers(v: &mut Validation<'_>, def: &ResourceDef, meta: &ObjectMeta) {
    if def.qualified_finalizers {
        validate_qualified_finalizers(v, &Path::new("metadata").child("finalizers"), &meta.finalizers);
    }
}
