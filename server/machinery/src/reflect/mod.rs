//! Safe reflection over declared structs: [`Ref`] reads, [`Mut`] writes, [`Owned`] holds any of them.
//!
//! Offsets instead of emitted accessors keep generated code to data; `docs/decisions/0001-codec-form.md` has the measurements.

mod access;
mod describe;
mod tables;
mod value;

pub use access::{
    ListAccess, MapAccess, Mut, OptStructMut, Owned, Ref, Shaped, Struct, StructAccess, StructList, StructListMut,
    StructMap, StructMapMut,
};
#[doc(hidden)]
pub use access::{field_def, form_of, struct_def};
pub use tables::Tables;
pub(crate) use tables::{FlatField, PADDED};
pub use value::{List, ListMut, Map, MapMut, OneMut, OptMut, Slot, Value};
