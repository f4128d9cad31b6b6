//! The directives of a patch.

/// `$patch`: the action for the object that contains it.
pub(super) const PATCH: &str = "$patch";

/// `$retainKeys`: the members of the object to keep.
pub(super) const RETAIN_KEYS: &str = "$retainKeys";

/// `$setElementOrder/<field>`: the order of a list's items.
pub(super) const SET_ELEMENT_ORDER: &str = "$setElementOrder";

/// `$deleteFromPrimitiveList/<field>`: scalars to remove from a list.
pub(super) const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";
