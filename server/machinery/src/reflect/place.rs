//! The resolved position of a field in all values of a struct.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::field::{is_omitted, read};
use super::tables::{FlatField, Probe};
use super::value::{List, Map, Value};
use super::view::Ref;
use crate::def::{FieldDef, Flags, Scalar, Shape, StructDef};

/// A field of a struct, possibly in an inlined struct.
///
/// It is small and contains the data for most operations: lists of places are read on each request,
/// with cold caches.
#[derive(Clone, Copy)]
pub(crate) struct FieldAccessor {
    def: &'static StructDef,
    offset: u32,
    /// Index in the JSON fields of the struct.
    index: u16,
    probe: Probe,
}

impl FieldAccessor {
    /// The place of a JSON field.
    pub(super) fn new(def: &'static StructDef, index: usize, field: &FlatField) -> Self {
        let probe = match field.shape {
            Shape::One(Scalar::F64) => Probe::Written,
            shape => Probe::of(shape, Flags::OMIT_EMPTY),
        };
        FieldAccessor { def, offset: field.offset as u32, index: index as u16, probe }
    }

    /// The field of a struct with this JSON name.
    pub fn find(def: &'static StructDef, name: &str) -> Option<Self> {
        let tables = def.tables();
        tables.find(name).map(|index| tables.places[index])
    }

    /// The descriptor of the field.
    pub fn field(self) -> &'static FieldDef {
        self.flat().field
    }

    /// Whether the place is one of this struct.
    #[inline]
    pub fn is_in(self, def: &StructDef) -> bool {
        std::ptr::eq(self.def, def)
    }

    /// Whether the field is a pointer in Go.
    pub fn is_pointer(self) -> bool {
        use Probe::{Opt, OptBool, OptI32, OptI64, OptString, OptStruct};
        matches!(self.probe, Opt | OptBool | OptI32 | OptI64 | OptString | OptStruct)
    }

    /// Whether the field is empty in Go: nil, an empty string, or no items. A number, a boolean, an
    /// embedded struct and the target of a pointer are never empty.
    #[inline]
    pub fn is_empty(&self, of: Ref<'_>) -> bool {
        let at = self.at(of);
        // SAFETY: the place is one of this struct's own, and the probe is that of its shape.
        unsafe {
            match self.probe {
                Probe::Bool | Probe::I32 | Probe::I64 | Probe::Written => false,
                Probe::Value => read(self.flat().shape, at).is_empty(),
                Probe::Opt => matches!(read(self.flat().shape, at), Value::Null),
                Probe::StructList | Probe::StructMap => is_omitted(self.probe, self.flat().shape, at),
                // These probes do not need the shape, which would be another memory access.
                probe => is_omitted(probe, Shape::One(Scalar::Bool), at),
            }
        }
    }

    /// The value of the field.
    #[inline]
    pub fn value<'a>(&self, of: Ref<'a>) -> Value<'a> {
        let at = self.at(of);
        // SAFETY: the place is one of this struct's own, and its type is that of the probe.
        unsafe {
            match self.probe {
                Probe::Bool => Value::Bool(*at.cast().as_ref()),
                Probe::I32 => Value::I32(*at.cast().as_ref()),
                Probe::I64 => Value::I64(*at.cast().as_ref()),
                Probe::String => Value::String(at.cast::<String>().as_ref()),
                Probe::Strings => Value::List(List::String(at.cast().as_ref())),
                Probe::StringMap => Value::Map(Map::String(at.cast::<BTreeMap<String, String>>().as_ref())),
                Probe::OptString => {
                    at.cast::<Option<String>>().as_ref().as_ref().map_or(Value::Null, |text| Value::String(text))
                }
                Probe::OptStruct if at.cast::<Option<NonNull<u8>>>().as_ref().is_none() => Value::Null,
                _ => read(self.flat().shape, at),
            }
        }
    }

    /// The struct in the field, embedded or behind a pointer.
    #[inline]
    pub fn structure<'a>(&self, of: Ref<'a>) -> Option<Ref<'a>> {
        let at = self.at(of);
        // SAFETY: the place is one of this struct's own, which holds an optional box of the inner struct.
        let pointer = || unsafe { *at.cast::<Option<NonNull<u8>>>().as_ref() };
        match self.probe {
            Probe::OptStruct if pointer().is_none() => None,
            _ => match self.flat().shape {
                Shape::Struct(def) => Some(Ref { def, at, life: PhantomData }),
                Shape::OptStruct(def) => pointer().map(|at| Ref { def, at, life: PhantomData }),
                _ => None,
            },
        }
    }

    #[inline]
    fn at(&self, of: Ref<'_>) -> NonNull<u8> {
        assert!(std::ptr::eq(self.def, of.def), "a place of {:?} is used in {:?}", self.def, of.def);
        // SAFETY: a flat field's offset is the sum of the offsets on the way to it inside this struct.
        unsafe { of.at.add(self.offset as usize) }
    }

    fn flat(self) -> &'static FlatField {
        &self.def.tables().json[self.index as usize]
    }
}

impl PartialEq for FieldAccessor {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.def, other.def) && self.index == other.index
    }
}

impl std::fmt::Debug for FieldAccessor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Place({}.{})", self.def.name, self.field().json)
    }
}
