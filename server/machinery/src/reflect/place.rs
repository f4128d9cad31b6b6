//! The place of one field in all values of a struct, found once and asked often.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::field::{is_omitted, read};
use super::tables::Probe;
use super::value::Value;
use super::view::Ref;
use crate::def::{Flags, Scalar, Shape, StructDef};

/// A field of a struct, inlined ones included.
pub(crate) struct Place {
    def: &'static StructDef,
    offset: usize,
    shape: Shape,
    probe: Probe,
}

impl Place {
    /// The field at an index into the JSON fields of a struct.
    pub fn of(def: &'static StructDef, index: usize) -> Self {
        let field = &def.tables().json[index];
        let probe = match field.shape {
            Shape::One(Scalar::Bool | Scalar::I32 | Scalar::I64 | Scalar::F64) => Probe::Written,
            shape => Probe::of(shape, Flags::OMIT_EMPTY),
        };
        Place { def, offset: field.offset, shape: field.shape, probe }
    }

    /// Whether Go's code would find nothing there: nil, no text, no items. A number, a truth value and a struct in place
    /// are never empty, nor is what a pointer leads to.
    #[inline]
    pub fn is_empty(&self, of: Ref<'_>) -> bool {
        let at = self.at(of);
        // SAFETY: the place is one of this struct's own, and the probe is that of its shape.
        unsafe {
            match self.probe {
                Probe::Value => read(self.shape, at).is_empty(),
                Probe::Opt => matches!(read(self.shape, at), Value::Null),
                probe => is_omitted(probe, self.shape, at),
            }
        }
    }

    /// The value there.
    #[inline]
    pub fn value<'a>(&self, of: Ref<'a>) -> Value<'a> {
        // SAFETY: the place is one of this struct's own.
        unsafe { read(self.shape, self.at(of)) }
    }

    /// The struct there, in place or behind a pointer.
    #[inline]
    pub fn structure<'a>(&self, of: Ref<'a>) -> Option<Ref<'a>> {
        let at = self.at(of);
        match self.shape {
            Shape::Struct(def) => Some(Ref { def, at, life: PhantomData }),
            // SAFETY: the place is one of this struct's own, which holds an optional box of the inner struct.
            Shape::OptStruct(def) => {
                unsafe { *at.cast::<Option<NonNull<u8>>>().as_ref() }.map(|at| Ref { def, at, life: PhantomData })
            }
            _ => None,
        }
    }

    #[inline]
    fn at(&self, of: Ref<'_>) -> NonNull<u8> {
        assert!(std::ptr::eq(self.def, of.def), "a place of {:?} is asked for in {:?}", self.def, of.def);
        // SAFETY: a flat field's offset is the sum of the offsets on the way to it inside this struct.
        unsafe { of.at.add(self.offset) }
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Place({} + {})", self.def.name, self.offset)
    }
}
