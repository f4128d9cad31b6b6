//! Descriptions of structs for [`reflect`](super), created by generated code: type-erased
//! operations, and the form of each field.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::OnceLock;

use bytes::Bytes;

use super::tables::Tables;
use super::view::{Mut, Ref};
use crate::def::{FieldDef, FieldInfo, Flags, Form, JsonForm, Scalar, StructDef};
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

/// A declared struct.
///
/// # Safety
/// `DEF` must describe `Self`. Implemented by `describe!` only.
pub unsafe trait Struct: Default + Clone + Send + Sync + 'static {
    /// Its descriptor.
    const DEF: &'static StructDef;

    /// Returns the descriptor.
    #[inline]
    fn def() -> &'static StructDef {
        Self::DEF
    }

    /// Appends the members of the JSON object, each with a leading comma.
    fn write_members(&self, out: &mut Vec<u8>);
}

/// The JSON name of the field at an offset in bytes, for [`json_name!`](crate::json_name).
///
/// # Panics
///
/// When the struct has no named field at the offset, which is a compile error.
#[doc(hidden)]
pub const fn json_name_at<T: Struct>(offset: usize) -> &'static str {
    let fields = T::DEF.fields;
    let mut index = 0;
    while index < fields.len() {
        if fields[index].offset == offset && !fields[index].json.is_empty() {
            return fields[index].json;
        }
        index += 1;
    }
    panic!("the struct describes no such field, or the field is inlined")
}

/// Appends the members of a struct behind a pointer.
type WriteMembers = unsafe fn(NonNull<u8>, &mut Vec<u8>);

/// Creates, copies and drops boxed structs of an erased type.
pub struct StructAccess {
    pub(super) type_id: fn() -> TypeId,
    pub(super) type_name: fn() -> &'static str,
    pub(super) size: usize,
    pub(super) new_box: fn() -> NonNull<u8>,
    pub(super) drop_box: unsafe fn(NonNull<u8>),
    pub(super) assign: unsafe fn(from: NonNull<u8>, to: NonNull<u8>),
    /// [`Struct::write_members`] of a type that overrides it.
    pub(super) write_members: Option<WriteMembers>,
}

impl StructAccess {
    const fn of<T: Struct>() -> Self {
        StructAccess {
            type_id: TypeId::of::<T>,
            type_name: std::any::type_name::<T>,
            size: size_of::<T>(),
            new_box: || NonNull::from(Box::leak(Box::<T>::default())).cast(),
            // SAFETY: called with what `new_box` of the same T gave.
            drop_box: |p| drop(unsafe { Box::from_raw(p.cast::<T>().as_ptr()) }),
            // SAFETY: both point to a T, and `to` is unique.
            assign: |from, to| unsafe { to.cast::<T>().as_mut().clone_from(from.cast::<T>().as_ref()) },
            write_members: None,
        }
    }

    /// As [`Self::of`], for a type that writes its own JSON.
    pub(super) const fn direct<T: Struct>() -> Self {
        StructAccess {
            // SAFETY: called with a pointer to a live T.
            write_members: Some(|at, out| unsafe { at.cast::<T>().as_ref() }.write_members(out)),
            ..Self::of::<T>()
        }
    }
}

/// Whether to keep an item.
type Keep<'k> = dyn FnMut(Ref<'_>) -> bool + 'k;
/// Visitor of map entries.
type EachMut<'f> = dyn FnMut(&str, Mut<'_>) + 'f;

/// Reads and writes a `Vec<T>` of structs.
pub struct ListAccess {
    pub(super) slice: unsafe fn(NonNull<u8>) -> (NonNull<u8>, usize),
    pub(super) push: unsafe fn(NonNull<u8>) -> NonNull<u8>,
    pub(super) truncate: unsafe fn(NonNull<u8>, usize),
    pub(super) retain: unsafe fn(NonNull<u8>, &mut Keep<'_>),
    pub(super) stride: usize,
}

impl ListAccess {
    const fn of<T: Struct>() -> Self {
        ListAccess {
            // SAFETY (all): called with a pointer to a live Vec<T>, unique for the writing ones.
            slice: |p| unsafe {
                let v = p.cast::<Vec<T>>().as_ref();
                (NonNull::from(v.as_slice()).cast(), v.len())
            },
            push: |p| unsafe {
                let v = p.cast::<Vec<T>>().as_mut();
                v.push(T::default());
                let last = v.len() - 1;
                NonNull::from(&mut v[last]).cast()
            },
            truncate: |p, n| unsafe { p.cast::<Vec<T>>().as_mut().truncate(n) },
            retain: |p, keep| unsafe { p.cast::<Vec<T>>().as_mut().retain(|t| keep(Ref::of(t))) },
            stride: std::mem::size_of::<T>(),
        }
    }
}

/// Reads and writes a `BTreeMap<String, T>` of structs.
pub struct MapAccess {
    pub(super) len: unsafe fn(NonNull<u8>) -> usize,
    pub(super) each: for<'a> unsafe fn(NonNull<u8>, &mut dyn FnMut(&'a str, Ref<'a>)),
    pub(super) each_rev: for<'a> unsafe fn(NonNull<u8>, &mut dyn FnMut(&'a str, Ref<'a>)),
    pub(super) each_mut: unsafe fn(NonNull<u8>, &mut EachMut<'_>),
    pub(super) get: unsafe fn(NonNull<u8>, &str) -> Option<NonNull<u8>>,
    pub(super) entry: unsafe fn(NonNull<u8>, String) -> NonNull<u8>,
    pub(super) remove: unsafe fn(NonNull<u8>, &str) -> bool,
    pub(super) clear: unsafe fn(NonNull<u8>),
}

impl MapAccess {
    const fn of<T: Struct>() -> Self {
        MapAccess {
            // SAFETY (all): called with a pointer to a live BTreeMap<String, T>, unique for the writing ones.
            len: |p| unsafe { p.cast::<BTreeMap<String, T>>().as_ref().len() },
            each: each_entry::<T>,
            each_rev: each_entry_rev::<T>,
            each_mut: |p, f| unsafe {
                p.cast::<BTreeMap<String, T>>().as_mut().iter_mut().for_each(|(k, v)| f(k, Mut::of(v)));
            },
            get: |p, k| unsafe { p.cast::<BTreeMap<String, T>>().as_ref().get(k).map(|v| NonNull::from(v).cast()) },
            entry: |p, k| unsafe {
                NonNull::from(p.cast::<BTreeMap<String, T>>().as_mut().entry(k).or_default()).cast()
            },
            remove: |p, k| unsafe { p.cast::<BTreeMap<String, T>>().as_mut().remove(k).is_some() },
            clear: |p| unsafe { p.cast::<BTreeMap<String, T>>().as_mut().clear() },
        }
    }
}

/// SAFETY: `p` points to a `BTreeMap<String, T>` that lives for `'a`.
unsafe fn each_entry<'a, T: Struct>(p: NonNull<u8>, f: &mut dyn FnMut(&'a str, Ref<'a>)) {
    let map: &'a BTreeMap<String, T> = unsafe { p.cast().as_ref() };
    map.iter().for_each(|(k, v)| f(k, Ref::of(v)));
}

/// SAFETY: as for `each_entry`.
unsafe fn each_entry_rev<'a, T: Struct>(p: NonNull<u8>, f: &mut dyn FnMut(&'a str, Ref<'a>)) {
    let map: &'a BTreeMap<String, T> = unsafe { p.cast().as_ref() };
    map.iter().rev().for_each(|(k, v)| f(k, Ref::of(v)));
}

/// A Rust type that a field may have.
pub trait Shaped {
    /// The form of a field of this type.
    const FORM: Form;
}

macro_rules! shaped_scalars {
    ($($variant:ident: $ty:ty),* $(,)?) => {$(
        impl Shaped for $ty { const FORM: Form = Form::One(Scalar::$variant); }
        impl Shaped for Option<$ty> { const FORM: Form = Form::Opt(Scalar::$variant); }
        impl Shaped for Vec<$ty> { const FORM: Form = Form::List(Scalar::$variant); }
        impl Shaped for BTreeMap<String, $ty> { const FORM: Form = Form::Map(Scalar::$variant); }
    )*};
}
shaped_scalars!(
    Bool: bool, I32: i32, I64: i64, F64: f64, String: String, Bytes: Bytes, Quantity: Quantity, Time: Time,
    MicroTime: MicroTime, Duration: Duration, IntOrString: IntOrString, RawExtension: RawExtension,
    FieldsV1: FieldsV1, Json: JsonValue, Document: Document,
);

impl<T: Struct> Shaped for T {
    const FORM: Form = Form::Struct(T::def);
}
impl<T: Struct> Shaped for Option<Box<T>> {
    const FORM: Form = Form::OptStruct(T::def);
}
impl<T: Struct> Shaped for Vec<T> {
    const FORM: Form = Form::StructList(T::def, &const { ListAccess::of::<T>() });
}
impl<T: Struct> Shaped for BTreeMap<String, T> {
    const FORM: Form = Form::StructMap(T::def, &const { MapAccess::of::<T>() });
}

#[doc(hidden)]
pub const fn form_of<T, F: Shaped>(_: fn(&T) -> &F) -> Form {
    F::FORM
}

/// # Safety
/// `offset` and `form` must belong to the same field of the struct that the descriptor describes.
/// Called by `field!` only.
#[doc(hidden)]
pub const unsafe fn field_def(
    json: &'static str,
    number: u32,
    flags: Flags,
    info: &'static FieldInfo,
    offset: usize,
    form: Form,
) -> FieldDef {
    FieldDef { json, number, flags, info, offset, form }
}

/// The descriptor of `T` with fields only. Setters add the rest, because struct update syntax does
/// not work across crates.
#[doc(hidden)]
pub const fn struct_def<T: Struct>(
    name: &'static str,
    fields: &'static [FieldDef],
    tables: &'static OnceLock<Tables>,
) -> StructDef {
    StructDef {
        name,
        fields,
        json_form: JsonForm::Fields,
        atomic: false,
        defaults: None,
        defaults_below: false,
        normalize_below: false,
        normalize: None,
        validate: None,
        checks: &[],
        rules: &[],
        unions: &[],
        access: StructAccess::of::<T>(),
        tables,
    }
}
