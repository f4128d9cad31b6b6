//! Safe reflection over declared structs: [`Ref`] reads, [`Mut`] writes, [`Owned`] holds any of them.
//!
//! Offsets instead of emitted accessors keep generated code to data; `docs/decisions/0001-codec-form.md` has the measurements.
//!
//! The one unsafe module of the project. Soundness rests on three facts. [`Struct`] is implemented only by `describe!`, whose `def`
//! therefore describes `Self`. Each [`FieldDef`](crate::def::FieldDef) is made by `field!`, which takes offset and form from one and the
//! same field expression, so the compiler proves that they belong together. A [`Ref`] or [`Mut`] is made only from a reference to a
//! [`Struct`], and fields are named by index into its own descriptor, never by a foreign one.
#![allow(unsafe_code)]

mod access;
mod collections;
mod describe;
mod field;
mod owned;
mod place;
mod tables;
mod value;
mod view;

pub use access::{ListAccess, MapAccess, Shaped, Struct, StructAccess};
#[doc(hidden)]
pub use access::{field_def, form_of, json_name_at, struct_def};
pub(crate) use collections::MAP_NODE;
pub use collections::{OptStructMut, StructList, StructListMut, StructMap, StructMapMut};
pub use owned::Owned;
pub(crate) use place::Place;
pub(crate) use tables::FlatField;
pub use tables::Tables;
pub use value::{List, ListMut, Map, MapMut, OneMut, OptMut, Slot, Value};
pub use view::{Mut, Ref};
