//! What resources and the catalog share.

use crate::model::Serving;

/// Folder and module of the types that every group uses.
pub(super) const META: &str = "meta";

pub(super) fn serving(serving: Serving) -> Option<::openapi::Serving> {
    match serving {
        Serving::On => Some(::openapi::Serving::On),
        Serving::Off => Some(::openapi::Serving::Off),
        Serving::Unserved => None,
    }
}
