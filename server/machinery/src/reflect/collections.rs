//! Views of lists, maps and options of structs.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::access::{ListAccess, MapAccess};
use super::view::{Mut, Ref};
use crate::def::StructDef;

/// The number of entries for which a `BTreeMap` allocates memory with its first one.
pub(crate) const MAP_NODE: usize = 11;

/// A read-only view of a `Vec` of structs.
#[derive(Clone, Copy)]
pub struct StructList<'a> {
    pub(super) def: &'static StructDef,
    pub(super) at: NonNull<u8>,
    pub(super) len: usize,
    pub(super) life: PhantomData<&'a u8>,
}

impl<'a> StructList<'a> {
    /// The number of items.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are no items.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The descriptor of the items.
    pub fn def(self) -> &'static StructDef {
        self.def
    }

    /// The items in order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = Ref<'a>> + DoubleEndedIterator {
        // SAFETY: each index is below the length.
        (0..self.len).map(move |i| Ref {
            def: self.def,
            at: unsafe { self.at.add(i * self.def.access.size) },
            life: PhantomData,
        })
    }

    /// The item at `index`, if there is one.
    pub fn get(self, index: usize) -> Option<Ref<'a>> {
        // SAFETY: the index is below the length.
        (index < self.len).then(|| Ref {
            def: self.def,
            at: unsafe { self.at.add(index * self.def.access.size) },
            life: PhantomData,
        })
    }
}

/// A mutable view of a `Vec` of structs.
pub struct StructListMut<'a> {
    pub(super) def: &'static StructDef,
    pub(super) at: NonNull<u8>,
    pub(super) access: &'static ListAccess,
    pub(super) life: PhantomData<&'a mut u8>,
}

impl<'a> StructListMut<'a> {
    /// The descriptor of the items.
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// The size of an item in bytes, without what it points to.
    pub(crate) fn item_size(&self) -> usize {
        self.access.stride
    }

    /// Appends a default item and returns it.
    #[inline]
    pub fn push(&mut self) -> Mut<'_> {
        // SAFETY: `at` is a unique Vec of this access's type.
        Mut { def: self.def, at: unsafe { (self.access.push)(self.at) }, life: PhantomData }
    }

    /// Drops the items from index `len` on.
    pub fn truncate(&mut self, len: usize) {
        // SAFETY: as in `push`.
        unsafe { (self.access.truncate)(self.at, len) }
    }

    /// Keeps the items for which `keep` returns true.
    pub fn retain(&mut self, keep: &mut dyn FnMut(Ref<'_>) -> bool) {
        // SAFETY: as in `push`.
        unsafe { (self.access.retain)(self.at, keep) }
    }

    /// A read-only view of the list.
    pub fn as_list(&self) -> StructList<'_> {
        // SAFETY: as in `push`; the borrow of self keeps writers away.
        let (at, len) = unsafe { (self.access.slice)(self.at) };
        StructList { def: self.def, at, len, life: PhantomData }
    }

    /// Visits the items in order.
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

/// A read-only view of a `BTreeMap<String, _>` of structs.
#[derive(Clone, Copy)]
pub struct StructMap<'a> {
    pub(super) def: &'static StructDef,
    pub(super) at: NonNull<u8>,
    pub(super) access: &'static MapAccess,
    pub(super) life: PhantomData<&'a u8>,
}

impl<'a> StructMap<'a> {
    /// The descriptor of the values.
    pub fn def(self) -> &'static StructDef {
        self.def
    }

    /// The number of entries.
    pub fn len(self) -> usize {
        // SAFETY: `at` is a live map of this access's type.
        unsafe { (self.access.len)(self.at) }
    }

    /// Whether there are no entries.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Visits the entries in key order.
    pub fn for_each(self, mut f: impl FnMut(&'a str, Ref<'a>)) {
        // SAFETY: as in `len`, for 'a.
        unsafe { (self.access.each)(self.at, &mut f) }
    }

    /// Visits the entries in reverse key order.
    pub fn for_each_rev(self, mut f: impl FnMut(&'a str, Ref<'a>)) {
        // SAFETY: as in `len`, for 'a.
        unsafe { (self.access.each_rev)(self.at, &mut f) }
    }

    /// The value at `key`, if there is one.
    pub fn get(self, key: &str) -> Option<Ref<'a>> {
        // SAFETY: as in `len`.
        unsafe { (self.access.get)(self.at, key) }.map(|at| Ref { def: self.def, at, life: PhantomData })
    }
}

/// A mutable view of a `BTreeMap<String, _>` of structs.
pub struct StructMapMut<'a> {
    pub(super) def: &'static StructDef,
    pub(super) at: NonNull<u8>,
    pub(super) access: &'static MapAccess,
    pub(super) life: PhantomData<&'a mut u8>,
}

impl StructMapMut<'_> {
    /// The descriptor of the values.
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// The size of an entry in bytes, without what it points to.
    pub(crate) fn item_size(&self) -> usize {
        size_of::<String>() + self.def.access.size
    }

    /// The minimum allocation of a map with an entry, in bytes.
    pub(crate) fn node_size(&self) -> usize {
        MAP_NODE * self.item_size()
    }

    /// The entry with this key, created if absent.
    pub fn entry(&mut self, key: String) -> Mut<'_> {
        // SAFETY: `at` is a unique map of this access's type.
        Mut { def: self.def, at: unsafe { (self.access.entry)(self.at, key) }, life: PhantomData }
    }

    /// Removes the entry with this key; returns false if there is none.
    pub fn remove(&mut self, key: &str) -> bool {
        // SAFETY: as in `entry`.
        unsafe { (self.access.remove)(self.at, key) }
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        // SAFETY: as in `entry`.
        unsafe { (self.access.clear)(self.at) }
    }

    /// A read-only view of the map.
    pub fn as_map(&self) -> StructMap<'_> {
        StructMap { def: self.def, at: self.at, access: self.access, life: PhantomData }
    }

    /// Visits the entries in key order.
    pub fn for_each(&mut self, mut f: impl FnMut(&str, Mut<'_>)) {
        // SAFETY: as in `entry`.
        unsafe { (self.access.each_mut)(self.at, &mut f) }
    }
}

/// A mutable view of an `Option<Box<struct>>`.
pub struct OptStructMut<'a> {
    pub(super) def: &'static StructDef,
    pub(super) at: NonNull<u8>,
    pub(super) life: PhantomData<&'a mut u8>,
}

impl<'a> OptStructMut<'a> {
    /// The descriptor of the struct.
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// The size of the struct in bytes, without what it points to.
    pub(crate) fn item_size(&self) -> usize {
        self.def.access.size
    }

    /// The struct, if it is set.
    pub fn get(self) -> Option<Mut<'a>> {
        // SAFETY: `Option<Box<T>>` is one nullable pointer.
        unsafe { *self.at.cast::<Option<NonNull<u8>>>().as_ref() }.map(|at| Mut {
            def: self.def,
            at,
            life: PhantomData,
        })
    }

    /// Whether the struct is set.
    pub fn is_some(&self) -> bool {
        // SAFETY: as in `get`.
        unsafe { self.at.cast::<Option<NonNull<u8>>>().as_ref() }.is_some()
    }

    /// The struct, created if absent.
    #[inline]
    pub fn get_or_insert(self) -> Mut<'a> {
        // SAFETY: as in `get`; a pointer from `new_box` of the same type is a `Box<T>`.
        let place = unsafe { self.at.cast::<Option<NonNull<u8>>>().as_mut() };
        let at = *place.get_or_insert_with(|| (self.def.access.new_box)());
        Mut { def: self.def, at, life: PhantomData }
    }

    /// Sets the option to `None`.
    pub fn clear(self) {
        // SAFETY: as in `get`; the box is taken out before it is dropped.
        if let Some(p) = unsafe { self.at.cast::<Option<NonNull<u8>>>().as_mut() }.take() {
            unsafe { (self.def.access.drop_box)(p) }
        }
    }
}
