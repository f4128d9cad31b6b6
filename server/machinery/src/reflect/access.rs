//! The one unsafe module of the project: reads and writes fields through descriptors.
//!
//! Soundness rests on three facts. [`Struct`] is implemented only by `describe!`, whose `def` therefore describes `Self`. Each
//! [`FieldDef`] is made by `field!`, which takes offset and form from one and the same field expression, so the compiler proves that
//! they belong together. A [`Ref`] or [`Mut`] is made only from a reference to a `Struct`, and fields are named by index into its own
//! descriptor, never by a foreign one.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::OnceLock;

use bytes::Bytes;

use super::tables::{FlatField, Probe, Tables};
use super::value::{List, ListMut, Map, MapMut, OneMut, OptMut, Slot, Value};
use crate::def::{FieldDef, FieldInfo, Flags, Form, JsonForm, Scalar, Shape, StructDef};
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

/// A declared struct.
///
/// # Safety
/// `def` must describe `Self`. Implemented by `describe!` only.
pub unsafe trait Struct: Default + Clone + Send + Sync + 'static {
    /// Its descriptor.
    fn def() -> &'static StructDef;
}

/// Makes, copies and drops boxed values of a struct whose type is not known here.
pub struct StructAccess {
    type_id: fn() -> TypeId,
    pub(super) type_name: fn() -> &'static str,
    new_box: fn() -> NonNull<u8>,
    drop_box: unsafe fn(NonNull<u8>),
    assign: unsafe fn(from: NonNull<u8>, to: NonNull<u8>),
}

impl StructAccess {
    const fn of<T: Struct>() -> Self {
        StructAccess {
            type_id: TypeId::of::<T>,
            type_name: std::any::type_name::<T>,
            new_box: || NonNull::from(Box::leak(Box::<T>::default())).cast(),
            // SAFETY: called with what `new_box` of the same T gave.
            drop_box: |p| drop(unsafe { Box::from_raw(p.cast::<T>().as_ptr()) }),
            // SAFETY: both point to a T, and `to` is unique.
            assign: |from, to| unsafe { to.cast::<T>().as_mut().clone_from(from.cast::<T>().as_ref()) },
        }
    }
}

/// Says whether an item stays.
type Keep<'k> = dyn FnMut(Ref<'_>) -> bool + 'k;
/// Is given each entry of a map.
type EachMut<'f> = dyn FnMut(&str, Mut<'_>) + 'f;

/// Reads and writes a `Vec<T>` of structs.
pub struct ListAccess {
    slice: unsafe fn(NonNull<u8>) -> (NonNull<u8>, usize),
    push: unsafe fn(NonNull<u8>) -> NonNull<u8>,
    truncate: unsafe fn(NonNull<u8>, usize),
    retain: unsafe fn(NonNull<u8>, &mut Keep<'_>),
    stride: usize,
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
    len: unsafe fn(NonNull<u8>) -> usize,
    each: for<'a> unsafe fn(NonNull<u8>, &mut dyn FnMut(&'a str, Ref<'a>)),
    each_rev: for<'a> unsafe fn(NonNull<u8>, &mut dyn FnMut(&'a str, Ref<'a>)),
    each_mut: unsafe fn(NonNull<u8>, &mut EachMut<'_>),
    get: unsafe fn(NonNull<u8>, &str) -> Option<NonNull<u8>>,
    entry: unsafe fn(NonNull<u8>, String) -> NonNull<u8>,
    remove: unsafe fn(NonNull<u8>, &str) -> bool,
    clear: unsafe fn(NonNull<u8>),
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
/// `offset` and `form` must be those of one field of the struct whose descriptor this goes into. Called by `field!` only.
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

/// The descriptor of `T` with nothing but its fields; struct-update syntax cannot be used across crates, hence the setters.
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
        rules: &[],
        unions: &[],
        access: StructAccess::of::<T>(),
        tables,
    }
}

/// A struct of any declared type, to read.
#[derive(Clone, Copy)]
pub struct Ref<'a> {
    def: &'static StructDef,
    at: NonNull<u8>,
    life: PhantomData<&'a u8>,
}

// SAFETY: it stands for a `&'a T` with `T: Sync`.
unsafe impl Send for Ref<'_> {}
// SAFETY: likewise.
unsafe impl Sync for Ref<'_> {}

impl<'a> Ref<'a> {
    /// The view of a struct.
    #[inline]
    pub fn of<T: Struct>(value: &'a T) -> Self {
        Ref { def: T::def(), at: NonNull::from(value).cast(), life: PhantomData }
    }

    #[inline]
    pub fn def(self) -> &'static StructDef {
        self.def
    }

    /// The struct itself, if it is a `T`.
    pub fn downcast<T: Struct>(self) -> Option<&'a T> {
        // SAFETY: the type id is that of the struct the view was made from.
        ((self.def.access.type_id)() == TypeId::of::<T>()).then(|| unsafe { self.at.cast::<T>().as_ref() })
    }

    /// The field at `index` in order of declaration. Panics when there is none.
    #[inline]
    pub fn get(self, index: usize) -> Value<'a> {
        let field = &self.def.tables().fields[index];
        // SAFETY: the field is one of this struct's own.
        unsafe { read(field.shape, self.at.add(field.offset)) }
    }

    /// The field at `index` in [`Tables::json`]: inlined structs stand flat there.
    #[inline]
    pub(crate) fn get_flat(self, index: usize) -> Value<'a> {
        let field = &self.def.tables().json[index];
        // SAFETY: a flat field's offset is the sum of the offsets on the way to it inside this struct.
        unsafe { read(field.shape, self.at.add(field.offset)) }
    }

    /// Visits the members of its JSON object from an index in [`Tables::json`] on, without those that JSON leaves out.
    ///
    /// Values are lent, not given: moving one costs more than making it.
    #[inline(always)]
    pub(crate) fn each_member(self, from: usize, mut visit: impl FnMut(&'static FlatField, &Value<'a>)) {
        let tables = self.def.tables();
        for (&(offset, probe), field) in tables.probes.iter().zip(&tables.json).skip(from) {
            // SAFETY: see `get_flat`; the offset is the field's.
            let at = unsafe { self.at.add(offset as usize) };
            if unsafe { is_omitted(probe, field.shape, at) } {
                continue;
            }
            let value = unsafe { read(field.shape, at) };
            let omitted = match probe {
                Probe::Value => value.is_empty(),
                Probe::Opt => matches!(value, Value::Null),
                _ => false,
            };
            if !omitted {
                visit(field, &value);
            }
        }
    }

    /// Visits the fields of its message, the highest number first, without most of those that protobuf leaves out.
    #[inline(always)]
    pub(crate) fn each_wire_field_rev(self, mut visit: impl FnMut(u32, Value<'a>)) {
        for field in self.def.tables().wire.iter().rev() {
            // SAFETY: the field is one of this struct's own.
            unsafe {
                let at = self.at.add(field.offset as usize);
                if !is_omitted(field.probe, field.shape, at) {
                    visit(field.number, read(field.shape, at));
                }
            }
        }
    }

    /// The field with this JSON name, inlined ones included.
    pub fn by_name(self, json: &str) -> Option<Value<'a>> {
        self.def.tables().find(json).map(|i| self.get_flat(i))
    }

    /// The members of an open struct that are no declared fields.
    pub fn undeclared(self) -> Option<&'a Document> {
        match self.get(self.def.tables().undeclared?) {
            Value::Document(document) => Some(document),
            _ => None,
        }
    }

    /// A copy on the heap.
    pub fn to_owned(self) -> Owned {
        let owned = Owned::new(self.def);
        // SAFETY: both are of `def`'s type; `owned` is unique.
        unsafe { (self.def.access.assign)(self.at, owned.at) };
        owned
    }
}

/// A struct of any declared type, to write.
pub struct Mut<'a> {
    def: &'static StructDef,
    at: NonNull<u8>,
    life: PhantomData<&'a mut u8>,
}

// SAFETY: it stands for a `&'a mut T` with `T: Send`.
unsafe impl Send for Mut<'_> {}

impl<'a> Mut<'a> {
    /// The view of a struct.
    #[inline]
    pub fn of<T: Struct>(value: &'a mut T) -> Self {
        Mut { def: T::def(), at: NonNull::from(value).cast(), life: PhantomData }
    }

    #[inline]
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// A shorter-lived view of the same struct.
    #[inline]
    pub fn reborrow(&mut self) -> Mut<'_> {
        Mut { def: self.def, at: self.at, life: PhantomData }
    }

    #[inline]
    pub fn as_ref(&self) -> Ref<'_> {
        Ref { def: self.def, at: self.at, life: PhantomData }
    }

    /// The struct itself, if it is a `T`.
    pub fn downcast<T: Struct>(self) -> Option<&'a mut T> {
        // SAFETY: as in `Ref::downcast`; the view is unique.
        ((self.def.access.type_id)() == TypeId::of::<T>()).then(|| unsafe { self.at.cast::<T>().as_mut() })
    }

    /// The field at `index` in order of declaration. Panics when there is none.
    #[inline]
    pub fn slot(&mut self, index: usize) -> Slot<'_> {
        let field = &self.def.tables().fields[index];
        // SAFETY: the field is one of this struct's own, and `self` is unique.
        unsafe { write(field.shape, self.at.add(field.offset)) }
    }

    /// Likewise, for as long as the view lives.
    pub fn into_slot(self, index: usize) -> Slot<'a> {
        let field = &self.def.tables().fields[index];
        // SAFETY: as in `slot`; the view is used up, so it stays unique.
        unsafe { write(field.shape, self.at.add(field.offset)) }
    }

    /// The field at `index` in [`Tables::json`].
    #[inline]
    pub(crate) fn slot_flat(&mut self, index: usize) -> Slot<'_> {
        let field = &self.def.tables().json[index];
        // SAFETY: see `Ref::get_flat`; `self` is unique.
        unsafe { write(field.shape, self.at.add(field.offset)) }
    }

    /// The members of an open struct that are no declared fields.
    pub fn undeclared(&mut self) -> Option<&mut Document> {
        match self.slot(self.def.tables().undeclared?) {
            Slot::One(OneMut::Document(document)) => Some(document),
            _ => None,
        }
    }

    /// The field with this JSON name, inlined ones included.
    pub fn by_name(&mut self, json: &str) -> Option<Slot<'_>> {
        self.def.tables().find(json).map(|i| self.slot_flat(i))
    }

    /// Makes it equal to `other`; false when the types differ.
    pub fn assign(&mut self, other: Ref<'_>) -> bool {
        let same = std::ptr::eq(self.def, other.def);
        if same {
            // SAFETY: both are of `def`'s type.
            unsafe { (self.def.access.assign)(other.at, self.at) };
        }
        same
    }
}

/// A boxed struct of any declared type.
pub struct Owned {
    def: &'static StructDef,
    at: NonNull<u8>,
}

// SAFETY: it stands for a `Box<T>` with `T: Send + Sync`.
unsafe impl Send for Owned {}
// SAFETY: likewise.
unsafe impl Sync for Owned {}

impl Owned {
    /// The default value of the described type.
    pub fn new(def: &'static StructDef) -> Self {
        Owned { def, at: (def.access.new_box)() }
    }

    /// Takes a struct.
    pub fn of<T: Struct>(value: T) -> Self {
        Owned { def: T::def(), at: NonNull::from(Box::leak(Box::new(value))).cast() }
    }

    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    #[inline]
    pub fn as_ref(&self) -> Ref<'_> {
        Ref { def: self.def, at: self.at, life: PhantomData }
    }

    #[inline]
    pub fn as_mut(&mut self) -> Mut<'_> {
        Mut { def: self.def, at: self.at, life: PhantomData }
    }

    /// The struct, if it is a `T`.
    pub fn downcast_ref<T: Struct>(&self) -> Option<&T> {
        self.as_ref().downcast()
    }

    /// The struct, if it is a `T`.
    pub fn downcast_mut<T: Struct>(&mut self) -> Option<&mut T> {
        self.as_mut().downcast()
    }

    /// The struct, if it is a `T`; itself otherwise.
    pub fn into_inner<T: Struct>(self) -> Result<T, Self> {
        if (self.def.access.type_id)() != TypeId::of::<T>() {
            return Err(self);
        }
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: it is the box of a T, and `this` does not drop it again.
        Ok(*unsafe { Box::from_raw(this.at.cast::<T>().as_ptr()) })
    }
}

impl Clone for Owned {
    fn clone(&self) -> Self {
        self.as_ref().to_owned()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by a box of this very type, dropped once.
        unsafe { (self.def.access.drop_box)(self.at) }
    }
}

/// A `Vec` of structs, to read.
#[derive(Clone, Copy)]
pub struct StructList<'a> {
    def: &'static StructDef,
    at: NonNull<u8>,
    len: usize,
    stride: usize,
    life: PhantomData<&'a u8>,
}

impl<'a> StructList<'a> {
    pub fn len(self) -> usize {
        self.len
    }

    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    pub fn def(self) -> &'static StructDef {
        self.def
    }

    /// The items in order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = Ref<'a>> + DoubleEndedIterator {
        // SAFETY: each index is below the length.
        (0..self.len).map(move |i| Ref {
            def: self.def,
            at: unsafe { self.at.add(i * self.stride) },
            life: PhantomData,
        })
    }

    pub fn get(self, index: usize) -> Option<Ref<'a>> {
        // SAFETY: the index is below the length.
        (index < self.len).then(|| Ref {
            def: self.def,
            at: unsafe { self.at.add(index * self.stride) },
            life: PhantomData,
        })
    }
}

/// A `Vec` of structs, to write.
pub struct StructListMut<'a> {
    def: &'static StructDef,
    at: NonNull<u8>,
    access: &'static ListAccess,
    life: PhantomData<&'a mut u8>,
}

impl<'a> StructListMut<'a> {
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// Appends a default item and gives it.
    #[inline]
    pub fn push(&mut self) -> Mut<'_> {
        // SAFETY: `at` is a unique Vec of this access's type.
        Mut { def: self.def, at: unsafe { (self.access.push)(self.at) }, life: PhantomData }
    }

    pub fn truncate(&mut self, len: usize) {
        // SAFETY: as in `push`.
        unsafe { (self.access.truncate)(self.at, len) }
    }

    /// Keeps the items for which `keep` says so.
    pub fn retain(&mut self, keep: &mut dyn FnMut(Ref<'_>) -> bool) {
        // SAFETY: as in `push`.
        unsafe { (self.access.retain)(self.at, keep) }
    }

    pub fn as_list(&self) -> StructList<'_> {
        // SAFETY: as in `push`; the borrow of self keeps writers away.
        let (at, len) = unsafe { (self.access.slice)(self.at) };
        StructList { def: self.def, at, len, stride: self.access.stride, life: PhantomData }
    }

    /// Each item in order.
    pub fn for_each(&mut self, mut f: impl FnMut(Mut<'_>)) {
        // SAFETY: as in `push`; items are distinct.
        let (at, len) = unsafe { (self.access.slice)(self.at) };
        for i in 0..len {
            f(Mut { def: self.def, at: unsafe { at.add(i * self.access.stride) }, life: PhantomData });
        }
    }

    /// The item at `index`.
    pub fn get_mut(&mut self, index: usize) -> Option<Mut<'_>> {
        // SAFETY: as in `push`; the index is below the length.
        let (at, len) = unsafe { (self.access.slice)(self.at) };
        (index < len).then(|| Mut {
            def: self.def,
            at: unsafe { at.add(index * self.access.stride) },
            life: PhantomData,
        })
    }
}

/// A `BTreeMap<String, _>` of structs, to read.
#[derive(Clone, Copy)]
pub struct StructMap<'a> {
    def: &'static StructDef,
    at: NonNull<u8>,
    access: &'static MapAccess,
    life: PhantomData<&'a u8>,
}

impl<'a> StructMap<'a> {
    pub fn def(self) -> &'static StructDef {
        self.def
    }

    pub fn len(self) -> usize {
        // SAFETY: `at` is a live map of this access's type.
        unsafe { (self.access.len)(self.at) }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Each entry in order of keys.
    pub fn for_each(self, mut f: impl FnMut(&'a str, Ref<'a>)) {
        // SAFETY: as in `len`, for 'a.
        unsafe { (self.access.each)(self.at, &mut f) }
    }

    /// Each entry, from the last key to the first.
    pub fn for_each_rev(self, mut f: impl FnMut(&'a str, Ref<'a>)) {
        // SAFETY: as in `len`, for 'a.
        unsafe { (self.access.each_rev)(self.at, &mut f) }
    }

    pub fn get(self, key: &str) -> Option<Ref<'a>> {
        // SAFETY: as in `len`.
        unsafe { (self.access.get)(self.at, key) }.map(|at| Ref { def: self.def, at, life: PhantomData })
    }
}

/// A `BTreeMap<String, _>` of structs, to write.
pub struct StructMapMut<'a> {
    def: &'static StructDef,
    at: NonNull<u8>,
    access: &'static MapAccess,
    life: PhantomData<&'a mut u8>,
}

impl StructMapMut<'_> {
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// The entry of this key, made when absent.
    pub fn entry(&mut self, key: String) -> Mut<'_> {
        // SAFETY: `at` is a unique map of this access's type.
        Mut { def: self.def, at: unsafe { (self.access.entry)(self.at, key) }, life: PhantomData }
    }

    pub fn remove(&mut self, key: &str) -> bool {
        // SAFETY: as in `entry`.
        unsafe { (self.access.remove)(self.at, key) }
    }

    pub fn clear(&mut self) {
        // SAFETY: as in `entry`.
        unsafe { (self.access.clear)(self.at) }
    }

    pub fn as_map(&self) -> StructMap<'_> {
        StructMap { def: self.def, at: self.at, access: self.access, life: PhantomData }
    }

    /// Each entry in order of keys.
    pub fn for_each(&mut self, mut f: impl FnMut(&str, Mut<'_>)) {
        // SAFETY: as in `entry`.
        unsafe { (self.access.each_mut)(self.at, &mut f) }
    }
}

/// An `Option<Box<struct>>`, to write.
pub struct OptStructMut<'a> {
    def: &'static StructDef,
    at: NonNull<u8>,
    life: PhantomData<&'a mut u8>,
}

impl<'a> OptStructMut<'a> {
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// The struct, if there is one.
    pub fn get(self) -> Option<Mut<'a>> {
        // SAFETY: `Option<Box<T>>` is one nullable pointer.
        unsafe { *self.at.cast::<Option<NonNull<u8>>>().as_ref() }.map(|at| Mut {
            def: self.def,
            at,
            life: PhantomData,
        })
    }

    pub fn is_some(&self) -> bool {
        // SAFETY: as in `get`.
        unsafe { self.at.cast::<Option<NonNull<u8>>>().as_ref() }.is_some()
    }

    /// The struct, made when absent.
    #[inline]
    pub fn get_or_insert(self) -> Mut<'a> {
        // SAFETY: as in `get`; a pointer from `new_box` of the same type is a `Box<T>`.
        let place = unsafe { self.at.cast::<Option<NonNull<u8>>>().as_mut() };
        let at = *place.get_or_insert_with(|| (self.def.access.new_box)());
        Mut { def: self.def, at, life: PhantomData }
    }

    /// Empties it.
    pub fn clear(self) {
        // SAFETY: as in `get`; the box is taken out before it is dropped.
        if let Some(p) = unsafe { self.at.cast::<Option<NonNull<u8>>>().as_mut() }.take() {
            unsafe { (self.def.access.drop_box)(p) }
        }
    }
}

macro_rules! by_scalar {
    ($scalar:expr, $at:expr, $wrap:ident, $to:ident, $outer:ident, $method:ident) => {
        match $scalar {
            Scalar::Bool => $outer::$wrap($to::Bool($at.cast().$method())),
            Scalar::I32 => $outer::$wrap($to::I32($at.cast().$method())),
            Scalar::I64 => $outer::$wrap($to::I64($at.cast().$method())),
            Scalar::F64 => $outer::$wrap($to::F64($at.cast().$method())),
            Scalar::String => $outer::$wrap($to::String($at.cast().$method())),
            Scalar::Bytes => $outer::$wrap($to::Bytes($at.cast().$method())),
            Scalar::Quantity => $outer::$wrap($to::Quantity($at.cast().$method())),
            Scalar::Time => $outer::$wrap($to::Time($at.cast().$method())),
            Scalar::MicroTime => $outer::$wrap($to::MicroTime($at.cast().$method())),
            Scalar::Duration => $outer::$wrap($to::Duration($at.cast().$method())),
            Scalar::IntOrString => $outer::$wrap($to::IntOrString($at.cast().$method())),
            Scalar::RawExtension => $outer::$wrap($to::RawExtension($at.cast().$method())),
            Scalar::FieldsV1 => $outer::$wrap($to::FieldsV1($at.cast().$method())),
            Scalar::Json => $outer::$wrap($to::Json($at.cast().$method())),
            Scalar::Document => $outer::$wrap($to::Document($at.cast().$method())),
        }
    };
}

/// Whether a field is known to be left out.
///
/// SAFETY: `at` points to this field, and the probe is its own.
#[inline(always)]
unsafe fn is_omitted(probe: Probe, shape: Shape, at: NonNull<u8>) -> bool {
    unsafe {
        match probe {
            Probe::Written | Probe::Value | Probe::Opt => false,
            Probe::StructList | Probe::StructMap => match shape {
                Shape::StructList(_, access) => (access.slice)(at).1 == 0,
                Shape::StructMap(_, access) => (access.len)(at) == 0,
                _ => false,
            },
            Probe::Bool => !*at.cast::<bool>().as_ref(),
            Probe::I32 => *at.cast::<i32>().as_ref() == 0,
            Probe::I64 => *at.cast::<i64>().as_ref() == 0,
            Probe::String => at.cast::<String>().as_ref().is_empty(),
            Probe::OptBool => at.cast::<Option<bool>>().as_ref().is_none(),
            Probe::OptI32 => at.cast::<Option<i32>>().as_ref().is_none(),
            Probe::OptI64 => at.cast::<Option<i64>>().as_ref().is_none(),
            Probe::OptString => at.cast::<Option<String>>().as_ref().is_none(),
            Probe::Strings => at.cast::<Vec<String>>().as_ref().is_empty(),
            Probe::StringMap => at.cast::<BTreeMap<String, String>>().as_ref().is_empty(),
            Probe::OptStruct => at.cast::<Option<NonNull<u8>>>().as_ref().is_none(),
        }
    }
}

/// SAFETY: `at` points to a scalar of this type that lives for `'a`.
#[inline]
unsafe fn read_one<'a>(scalar: Scalar, at: NonNull<u8>) -> Value<'a> {
    unsafe {
        match scalar {
            Scalar::Bool => Value::Bool(*at.cast().as_ref()),
            Scalar::I32 => Value::I32(*at.cast().as_ref()),
            Scalar::I64 => Value::I64(*at.cast().as_ref()),
            Scalar::F64 => Value::F64(*at.cast().as_ref()),
            Scalar::String => Value::String(at.cast::<String>().as_ref()),
            Scalar::Bytes => Value::Bytes(at.cast().as_ref()),
            Scalar::Quantity => Value::Quantity(at.cast().as_ref()),
            Scalar::Time => Value::Time(*at.cast().as_ref()),
            Scalar::MicroTime => Value::MicroTime(*at.cast().as_ref()),
            Scalar::Duration => Value::Duration(*at.cast().as_ref()),
            Scalar::IntOrString => Value::IntOrString(at.cast().as_ref()),
            Scalar::RawExtension => Value::RawExtension(at.cast().as_ref()),
            Scalar::FieldsV1 => Value::FieldsV1(at.cast().as_ref()),
            Scalar::Json => Value::Json(at.cast().as_ref()),
            Scalar::Document => Value::Document(at.cast().as_ref()),
        }
    }
}

/// SAFETY: `at` points to an `Option` of this scalar that lives for `'a`.
#[inline]
unsafe fn read_opt<'a>(scalar: Scalar, at: NonNull<u8>) -> Value<'a> {
    macro_rules! copied {
        ($variant:ident, $ty:ty) => {
            match unsafe { at.cast::<Option<$ty>>().as_ref() } {
                Some(v) => Value::$variant(*v),
                None => Value::Null,
            }
        };
    }
    macro_rules! borrowed {
        ($variant:ident, $ty:ty) => {
            match unsafe { at.cast::<Option<$ty>>().as_ref() } {
                Some(v) => Value::$variant(v),
                None => Value::Null,
            }
        };
    }
    match scalar {
        Scalar::Bool => copied!(Bool, bool),
        Scalar::I32 => copied!(I32, i32),
        Scalar::I64 => copied!(I64, i64),
        Scalar::F64 => copied!(F64, f64),
        Scalar::String => borrowed!(String, String),
        Scalar::Bytes => borrowed!(Bytes, Bytes),
        Scalar::Quantity => borrowed!(Quantity, Quantity),
        Scalar::Time => copied!(Time, Time),
        Scalar::MicroTime => copied!(MicroTime, MicroTime),
        Scalar::Duration => copied!(Duration, Duration),
        Scalar::IntOrString => borrowed!(IntOrString, IntOrString),
        Scalar::RawExtension => borrowed!(RawExtension, RawExtension),
        Scalar::FieldsV1 => borrowed!(FieldsV1, FieldsV1),
        Scalar::Json => borrowed!(Json, JsonValue),
        Scalar::Document => borrowed!(Document, Document),
    }
}

/// SAFETY: `at` points to a field of this shape that lives for `'a`.
#[inline]
unsafe fn read<'a>(shape: Shape, at: NonNull<u8>) -> Value<'a> {
    unsafe {
        match shape {
            Shape::One(scalar) => read_one(scalar, at),
            Shape::Opt(scalar) => read_opt(scalar, at),
            Shape::List(scalar) => by_scalar!(scalar, at, List, List, Value, as_ref),
            Shape::Map(scalar) => by_scalar!(scalar, at, Map, Map, Value, as_ref),
            Shape::Struct(def) => Value::Struct(Ref { def, at, life: PhantomData }),
            Shape::OptStruct(def) => match *at.cast::<Option<NonNull<u8>>>().as_ref() {
                Some(at) => Value::Struct(Ref { def, at, life: PhantomData }),
                None => Value::Null,
            },
            Shape::StructList(def, access) => {
                let (at, len) = (access.slice)(at);
                Value::StructList(StructList { def, at, len, stride: access.stride, life: PhantomData })
            }
            Shape::StructMap(def, access) => Value::StructMap(StructMap { def, at, access, life: PhantomData }),
        }
    }
}

/// SAFETY: `at` points to a field of this shape, unique for `'a`.
#[inline]
unsafe fn write<'a>(shape: Shape, at: NonNull<u8>) -> Slot<'a> {
    unsafe {
        match shape {
            Shape::One(scalar) => by_scalar!(scalar, at, One, OneMut, Slot, as_mut),
            Shape::Opt(scalar) => by_scalar!(scalar, at, Opt, OptMut, Slot, as_mut),
            Shape::List(scalar) => by_scalar!(scalar, at, List, ListMut, Slot, as_mut),
            Shape::Map(scalar) => by_scalar!(scalar, at, Map, MapMut, Slot, as_mut),
            Shape::Struct(def) => Slot::Struct(Mut { def, at, life: PhantomData }),
            Shape::OptStruct(def) => Slot::OptStruct(OptStructMut { def, at, life: PhantomData }),
            Shape::StructList(def, access) => Slot::StructList(StructListMut { def, at, access, life: PhantomData }),
            Shape::StructMap(def, access) => Slot::StructMap(StructMapMut { def, at, access, life: PhantomData }),
        }
    }
}
