//! Safe reflection over declared structs: [`Ref`] reads, [`Mut`] writes, [`Owned`] owns any of them.
//!
//! Descriptors contain offsets instead of generated accessors, so generated code is only data;
//! `docs/decisions/0001-codec-form.md` has the measurements.
//!
//! ```
//! use machinery::reflect::{Owned, Value};
//! # use machinery::{def::Flags, describe};
//! # #[derive(Default, Clone)]
//! # pub struct Widget { pub color: String }
//! # describe! { Widget, WIDGET "Widget" {} [ color: "color", 1, Flags::OMIT_EMPTY; ] }
//!
//! let mut object = Owned::of(Widget { color: "red".into() });
//! if let Some(color) = object.as_mut().by_name("color") {
//!     assert!(color.assign(Value::String("blue")));
//! }
//! assert_eq!(object.as_ref().by_name("color").and_then(Value::as_str), Some("blue"));
//! assert_eq!(object.downcast_ref::<Widget>().map(|widget| widget.color.as_str()), Some("blue"));
//! ```
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
mod each_struct;
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
pub(crate) use each_struct::each_struct;
pub use owned::Owned;
pub(crate) use place::FieldAccessor;
pub use tables::Tables;
pub(crate) use tables::{FlatField, GatedField};
pub use value::{List, ListMut, Map, MapMut, OneMut, OptMut, Slot, Value};
pub use view::{Mut, Ref};
