//! Kinds of objects within others, which protobuf has no room for ([`Flags::EMBEDS_TYPE_META`]).

use crate::def::Flags;
use crate::defaulting::each_struct;
use crate::reflect::{Mut, OneMut, Slot};

/// What these objects say of their version.
pub(super) const CORE_V1: &str = "v1";

/// Has the objects within a decoded one say their kinds, as [`super::to_json`] does by itself.
pub fn say_kinds(mut value: Mut<'_>) {
    for (index, field) in value.def().fields.iter().enumerate() {
        if field.flags.has(Flags::EMBEDS_TYPE_META) {
            each_struct(value.slot(index), &mut say_kind);
        } else if field.shape().struct_def().is_some() {
            each_struct(value.slot(index), &mut say_kinds);
        }
    }
}

/// Sets the first field, which is where an object says what it is.
pub(crate) fn say_kind(mut object: Mut<'_>) {
    let kind = object.def().name;
    let Slot::Struct(mut type_meta) = object.slot(0) else { return };
    for (index, text) in [kind, CORE_V1].into_iter().enumerate() {
        if let Slot::One(OneMut::String(into)) = type_meta.slot(index) {
            text.clone_into(into);
        }
    }
}
