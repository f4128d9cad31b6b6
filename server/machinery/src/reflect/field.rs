//! Reads and writes one field in memory, by its shape.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ptr::NonNull;

use bytes::Bytes;

use super::collections::{OptStructMut, StructList, StructListMut, StructMap, StructMapMut};
use super::tables::Probe;
use super::value::{List, ListMut, Map, MapMut, OneMut, OptMut, Slot, Value};
use super::view::{Mut, Ref};
use crate::def::{Scalar, Shape};
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

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

/// Whether JSON is known to omit a field.
///
/// SAFETY: `at` points to this field, and the probe is its own.
#[inline(always)]
pub(super) unsafe fn is_omitted(probe: Probe, shape: Shape, at: NonNull<u8>) -> bool {
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

/// The value of a field, unless JSON omits it.
///
/// SAFETY: `at` points to a field of this shape that lives for `'a`, and the probe is its own.
#[inline(always)]
pub(super) unsafe fn read_member<'a>(probe: Probe, shape: Shape, at: NonNull<u8>) -> Option<Value<'a>> {
    if unsafe { is_omitted(probe, shape, at) } {
        return None;
    }
    let value = unsafe { read(shape, at) };
    let omitted = match probe {
        Probe::Value => value.is_empty(),
        Probe::Opt => matches!(value, Value::Null),
        _ => false,
    };
    (!omitted).then_some(value)
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
pub(super) unsafe fn read<'a>(shape: Shape, at: NonNull<u8>) -> Value<'a> {
    unsafe { read_in_place(shape, at) }
}

/// As [`read`], inlined for callers that match on the result at once, so that the type is matched
/// only once.
///
/// SAFETY: as of [`read`].
#[inline(always)]
pub(super) unsafe fn read_in_place<'a>(shape: Shape, at: NonNull<u8>) -> Value<'a> {
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
                Value::StructList(StructList { def, at, len, life: PhantomData })
            }
            Shape::StructMap(def, access) => Value::StructMap(StructMap { def, at, access, life: PhantomData }),
        }
    }
}

/// SAFETY: `at` points to a field of this shape, unique for `'a`.
#[inline(always)]
pub(super) unsafe fn write<'a>(shape: Shape, at: NonNull<u8>) -> Slot<'a> {
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
