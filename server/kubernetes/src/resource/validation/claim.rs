//! Claims and their templates.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use meta::validate_whole_object_meta_update;

use super::IMMUTABLE;
use super::request::validate_device_claim;
use super::status::validate_status;
use crate::core::internal::internal_value;
use crate::core::validation::claim_spec::validate_template_meta;
use generated::resource::v1::{ResourceClaim, ResourceClaimTemplate};

/// `ValidateResourceClaim`, `ValidateResourceClaimUpdate`, `ValidateResourceClaimStatusUpdate`
pub fn validate_resource_claim(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourceClaim,
    old: Option<&ResourceClaim>,
) {
    let spec = path.child("spec");
    match old {
        None => validate_device_claim(v, &spec.child("devices"), &new.spec.devices),
        Some(old) if v.context.subresource == "status" => validate_status(v, &path.child("status"), new, old),
        Some(old) if Ref::of(&old.spec) != Ref::of(&new.spec) => v.invalid(&spec, internal_value(&new.spec), IMMUTABLE),
        Some(_) => {}
    }
}

/// `ValidateResourceClaimTemplate`, `ValidateResourceClaimTemplateUpdate`
pub fn validate_resource_claim_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ResourceClaimTemplate,
    old: Option<&ResourceClaimTemplate>,
) {
    let path = path.child("spec");
    validate_template_meta(v, &path.child("metadata"), &new.spec.metadata);
    validate_device_claim(v, &path.child("spec.devices"), &new.spec.spec.devices);
    if let Some(old) = old {
        validate_whole_object_meta_update(v, &new.metadata, &old.metadata);
        if Ref::of(&old.spec) != Ref::of(&new.spec) {
            v.invalid(&path, internal_value(&new.spec), IMMUTABLE);
        }
    }
}
