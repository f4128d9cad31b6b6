//! Type metadata of embedded objects, which protobuf does not encode ([`Flags::EMBEDS_TYPE_META`]).

use crate::def::Flags;
use crate::reflect::each_struct;
use crate::reflect::{Mut, OneMut, Slot};

/// The `apiVersion` of these objects.
pub(super) const CORE_V1: &str = "v1";

/// Sets kind and version of the embedded objects of a decoded object, as [`super::to_json`] does.
pub fn set_embedded_kinds(mut value: Mut<'_>) {
    for (index, field) in value.def().fields.iter().enumerate() {
        if field.flags.has(Flags::EMBEDS_TYPE_META) {
            each_struct(value.slot(index), &mut set_embedded_kind);
        } else if field.shape().struct_def().is_some() {
            each_struct(value.slot(index), &mut set_embedded_kinds);
        }
    }
}

/// Sets the first field of an object, which is its type metadata.
pub(crate) fn set_embedded_kind(mut object: Mut<'_>) {
    let kind = object.def().name;
    let Slot::Struct(mut type_meta) = object.slot(0) else { return };
    for (index, text) in [kind, CORE_V1].into_iter().enumerate() {
        if let Slot::One(OneMut::String(into)) = type_meta.slot(index) {
            text.clone_into(into);
        }
    }
}
