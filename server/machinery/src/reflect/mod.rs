//! Safe reflection over declared structs: [`Ref`] reads, [`Mut`] writes, [`Owned`] owns any of them.
//!
//! Descriptors contain offsets instead of generated accessors, so generated code is only data;
//! `docs/decisions/0001-codec-form.md` has the measurements.
//!
//! This is the only unsafe module of the project. Soundness rests on three facts:
//!
//! - [`Struct`] is only implemented by `describe!`, so its `DEF` describes `Self`.
//! - Each [`FieldDef`](crate::def::FieldDef) is created by `field!`, which takes offset and form from the
//!   same field expression, so the compiler proves that they belong together.
//! - A [`Ref`] or [`Mut`] is only created from a reference to a [`Struct`], and fields are referred to by
//!   index in its own descriptor, never in another one.
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
