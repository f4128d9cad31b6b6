//! Visits structs.

use super::{Mut, Slot};

/// Visits the structs in a field.
pub(crate) fn each_struct(slot: Slot<'_>, f: &mut dyn FnMut(Mut<'_>)) {
    match slot {
        Slot::Struct(s) => f(s),
        Slot::OptStruct(s) => {
            if let Some(s) = s.get() {
                f(s);
            }
        }
        Slot::StructList(mut list) => list.for_each(f),
        Slot::StructMap(mut map) => map.for_each(|_, s| f(s)),
        Slot::One(_) | Slot::Opt(_) | Slot::List(_) | Slot::Map(_) => {}
    }
}
