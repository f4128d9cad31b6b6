//! Views of a struct of any declared type, read-only ([`Ref`]) and mutable ([`Mut`]).

use std::any::TypeId;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::access::Struct;
use super::field::{is_omitted, read, read_in_place, read_member, write};
use super::owned::Owned;
use super::tables::FlatField;
use super::value::{OneMut, Slot, Value};
use crate::def::StructDef;
use crate::scalar::Document;

/// A read-only view of a struct of any declared type.
#[derive(Clone, Copy)]
pub struct Ref<'a> {
    pub(super) def: &'static StructDef,
    pub(super) at: NonNull<u8>,
    pub(super) life: PhantomData<&'a u8>,
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

    /// The descriptor of the struct.
    #[inline]
    pub fn def(self) -> &'static StructDef {
        self.def
    }

    /// The struct itself, if it is a `T`.
    pub fn downcast<T: Struct>(self) -> Option<&'a T> {
        // SAFETY: the type id is that of the struct the view was made from.
        ((self.def.access.type_id)() == TypeId::of::<T>()).then(|| unsafe { self.at.cast::<T>().as_ref() })
    }

    /// The field at `index` in declaration order. Panics if there is none.
    #[inline]
    pub fn get(self, index: usize) -> Value<'a> {
        let field = &self.def.tables().fields[index];
        // SAFETY: the field is one of this struct's own.
        unsafe { read(field.shape, self.at.add(field.offset)) }
    }

    /// The field at `index` in [`Tables::json`], where inlined structs are flattened.
    #[inline]
    pub(crate) fn get_flat(self, index: usize) -> Value<'a> {
        let field = &self.def.tables().json[index];
        // SAFETY: a flat field's offset is the sum of the offsets on the way to it inside this struct.
        unsafe { read(field.shape, self.at.add(field.offset)) }
    }

    /// Visits the members of the JSON object, starting at an index in [`Tables::json`], without
    /// those that JSON omits.
    ///
    /// Values are passed by reference: moving one costs more than creating it.
    #[inline(always)]
    pub(crate) fn each_member(self, from: usize, mut visit: impl FnMut(&'static FlatField, &Value<'a>)) {
        let tables = self.def.tables();
        for (&(offset, probe), field) in tables.probes.iter().zip(&tables.json).skip(from) {
            // SAFETY: see `get_flat`; the offset is the field's.
            if let Some(value) = unsafe { read_member(probe, field.shape, self.at.add(offset as usize)) } {
                visit(field, &value);
            }
        }
    }

    /// Visits the members of the JSON object in name order.
    pub(crate) fn each_member_by_name(self, mut visit: impl FnMut(&'static FlatField, &Value<'a>)) {
        let tables = self.def.tables();
        for &index in tables.by_name() {
            let ((offset, probe), field) = (tables.probes[index as usize], &tables.json[index as usize]);
            // SAFETY: as in `each_member`.
            if let Some(value) = unsafe { read_member(probe, field.shape, self.at.add(offset as usize)) } {
                visit(field, &value);
            }
        }
    }

    /// Visits the members that the JSON object of this struct or of another struct of its type has.
    /// Visits none if the types differ.
    pub(crate) fn each_member_of_either(
        self,
        other: Ref<'a>,
        mut visit: impl FnMut(&'static FlatField, Option<Value<'a>>, Option<Value<'a>>),
    ) {
        if !std::ptr::eq(self.def, other.def) {
            return;
        }
        let tables = self.def.tables();
        for (&(offset, probe), field) in tables.probes.iter().zip(&tables.json) {
            // SAFETY: as in `each_member`; both are of one type.
            let member = |of: Ref<'a>| unsafe { read_member(probe, field.shape, of.at.add(offset as usize)) };
            let (mine, others) = (member(self), member(other));
            if mine.is_some() || others.is_some() {
                visit(field, mine, others);
            }
        }
    }

    /// The declared member with this name, if JSON has it.
    pub(crate) fn member(self, json: &str) -> Option<(&'static FlatField, Value<'a>)> {
        let tables = self.def.tables();
        let index = tables.find(json)?;
        let ((offset, probe), field) = (tables.probes[index], &tables.json[index]);
        // SAFETY: as in `each_member`.
        unsafe { read_member(probe, field.shape, self.at.add(offset as usize)) }.map(|value| (field, value))
    }

    /// Appends the members of the JSON object with the encoder of the type; returns false if it has
    /// none.
    #[inline]
    pub(crate) fn write_members(self, out: &mut Vec<u8>) -> bool {
        let write = self.def.access.write_members;
        if let Some(write) = write {
            // SAFETY: the function is that of the struct's own type.
            unsafe { write(self.at, out) };
        }
        write.is_some()
    }

    /// Visits the fields of the protobuf message in descending order of numbers, without most of
    /// those that protobuf omits.
    #[inline(always)]
    pub(crate) fn each_wire_field_rev(self, mut visit: impl FnMut(u32, Value<'a>)) {
        for field in self.def.tables().wire.iter().rev() {
            // SAFETY: the field is one of this struct's own.
            unsafe {
                let at = self.at.add(field.offset as usize);
                if !is_omitted(field.probe, field.shape, at) {
                    visit(field.number, read_in_place(field.shape, at));
                }
            }
        }
    }

    /// The field with this JSON name, including those of inlined structs.
    pub fn by_name(self, json: &str) -> Option<Value<'a>> {
        self.def.tables().find(json).map(|i| self.get_flat(i))
    }

    /// Whether this struct and another one of its type are equal. Most fields of most structs are
    /// empty in both, which is detected without reading them.
    pub(super) fn holds_same(self, other: Ref<'_>) -> bool {
        self.def.tables().fields.iter().all(|field| {
            // SAFETY: the field is one of both structs' own, and the probe is that of its shape.
            unsafe {
                let (mine, others) = (self.at.add(field.offset), other.at.add(field.offset));
                match (is_omitted(field.probe, field.shape, mine), is_omitted(field.probe, field.shape, others)) {
                    (true, true) => true,
                    (false, false) => read(field.shape, mine) == read(field.shape, others),
                    _ => false,
                }
            }
        })
    }

    /// The undeclared members of an open struct.
    pub fn undeclared(self) -> Option<&'a Document> {
        match self.get(self.def.tables().undeclared?) {
            Value::Document(document) => Some(document),
            _ => None,
        }
    }

    /// Copies the struct to the heap.
    pub fn to_owned(self) -> Owned {
        let owned = Owned::new(self.def);
        // SAFETY: both are of `def`'s type; `owned` is unique.
        unsafe { (self.def.access.assign)(self.at, owned.at) };
        owned
    }
}

/// A mutable view of a struct of any declared type.
pub struct Mut<'a> {
    pub(super) def: &'static StructDef,
    pub(super) at: NonNull<u8>,
    pub(super) life: PhantomData<&'a mut u8>,
}

// SAFETY: it stands for a `&'a mut T` with `T: Send`.
unsafe impl Send for Mut<'_> {}

impl<'a> Mut<'a> {
    /// The view of a struct.
    #[inline]
    pub fn of<T: Struct>(value: &'a mut T) -> Self {
        Mut { def: T::def(), at: NonNull::from(value).cast(), life: PhantomData }
    }

    /// The descriptor of the struct.
    #[inline]
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// A view of the same struct with a shorter lifetime.
    #[inline]
    pub fn reborrow(&mut self) -> Mut<'_> {
        Mut { def: self.def, at: self.at, life: PhantomData }
    }

    /// A read-only view of the struct.
    #[inline]
    pub fn as_ref(&self) -> Ref<'_> {
        Ref { def: self.def, at: self.at, life: PhantomData }
    }

    /// The struct itself, if it is a `T`.
    pub fn downcast<T: Struct>(self) -> Option<&'a mut T> {
        // SAFETY: as in `Ref::downcast`; the view is unique.
        ((self.def.access.type_id)() == TypeId::of::<T>()).then(|| unsafe { self.at.cast::<T>().as_mut() })
    }

    /// The field at `index` in declaration order. Panics if there is none.
    #[inline]
    pub fn slot(&mut self, index: usize) -> Slot<'_> {
        self.slot_in_place(index)
    }

    /// As [`Self::slot`], inlined for decoders, which match on the result at once, so that the type
    /// is matched only once.
    #[inline(always)]
    pub(crate) fn slot_in_place(&mut self, index: usize) -> Slot<'_> {
        let field = &self.def.tables().fields[index];
        // SAFETY: the field is one of this struct's own, and `self` is unique.
        unsafe { write(field.shape, self.at.add(field.offset)) }
    }

    /// As [`Self::slot`], for the lifetime of the view.
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

    /// The undeclared members of an open struct.
    pub fn undeclared(&mut self) -> Option<&mut Document> {
        match self.slot(self.def.tables().undeclared?) {
            Slot::One(OneMut::Document(document)) => Some(document),
            _ => None,
        }
    }

    /// The field with this JSON name, including those of inlined structs.
    pub fn by_name(&mut self, json: &str) -> Option<Slot<'_>> {
        self.def.tables().find(json).map(|i| self.slot_flat(i))
    }

    /// Assigns `other`; returns false if the types differ.
    pub fn assign(&mut self, other: Ref<'_>) -> bool {
        let same = std::ptr::eq(self.def, other.def);
        if same {
            // SAFETY: both are of `def`'s type.
            unsafe { (self.def.access.assign)(other.at, self.at) };
        }
        same
    }
}
