//! Addresses that services have.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use crate::hatches::core::internal::internal_value;
use crate::networking::v1::IPAddress;

/// `ValidateIPAddress`, `ValidateIPAddressUpdate`
pub fn validate_ip_address(v: &mut Validation<'_>, _: &Path<'_>, new: &IPAddress, old: Option<&IPAddress>) {
    let path = Path::new("spec");
    let path = path.child("parentRef");
    let parent = new.spec.parent_ref.as_deref();
    if let Some(old) = old {
        if parent.map(Ref::of) != old.spec.parent_ref.as_deref().map(Ref::of) {
            v.invalid(&path, parent.map_or(BadValue::None, internal_value), "field is immutable");
        }
        return;
    }
    let Some(parent) = parent else { return v.required(&path, "") };
    if !parent.group.is_empty() {
        v.malformed(&path.child("group"), &parent.group, format::is_dns1123_subdomain(&parent.group));
    }
    for (field, text) in [("resource", &parent.resource), ("name", &parent.name)] {
        v.filled(&path.child(field), text);
        v.malformed_name(&path.child(field), text, NameRule::PathSegment, false);
    }
    v.malformed_name(&path.child("namespace"), &parent.namespace, NameRule::PathSegment, false);
}
