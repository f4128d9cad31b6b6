//! Errors of plugins, and objects of a type.

use std::collections::HashSet;

use endpoints::AdmissionAttributes;
use machinery::reflect::{Owned, Struct};
use machinery::status::{GroupResource, Status};

/// Returns the request body as the type of the resource's kind.
///
/// # Errors
/// 400 when the body has another kind, so that a plugin does not admit objects that it cannot
/// inspect.
pub(super) fn body<T: Struct>(object: &Owned) -> Result<&T, Status> {
    object.downcast_ref().ok_or_else(other_kind::<T>)
}

/// Mutable variant of [`body`].
pub(super) fn body_mut<T: Struct>(object: &mut Owned) -> Result<&mut T, Status> {
    object.downcast_mut().ok_or_else(other_kind::<T>)
}

pub(super) fn other_kind<T: Struct>() -> Status {
    let kind = T::def().name;
    Status::bad_request(format!("Resource was marked with kind {kind} but was unable to be converted"))
}

/// `admission.NewForbidden`
pub(super) fn forbidden(attributes: &AdmissionAttributes, why: impl std::fmt::Display) -> Status {
    let of = GroupResource { group: attributes.group, resource: attributes.plural };
    Status::forbidden(of, attributes.shown_name(), why)
}

/// Joins the distinct reasons into one message (`errors.NewAggregate`).
pub(super) fn joined(reasons: &[String]) -> String {
    let mut known = HashSet::new();
    let distinct: Vec<&str> = reasons.iter().map(String::as_str).filter(|reason| known.insert(*reason)).collect();
    if distinct.len() == 1 { distinct.concat() } else { format!("[{}]", distinct.join(", ")) }
}
