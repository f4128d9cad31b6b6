//! Field values, as seen through a descriptor.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::collections::{OptStructMut, StructList, StructListMut, StructMap, StructMapMut};
use super::view::{Mut, Ref};
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

/// A read-only view of a field value. Absent `Option`s are [`Value::Null`].
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// An absent `Option`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// A floating-point number.
    F64(f64),
    /// A text.
    String(&'a str),
    /// Bytes; base64 in JSON.
    Bytes(&'a Bytes),
    /// A quantity.
    Quantity(&'a Quantity),
    /// A time in seconds.
    Time(Time),
    /// A time in microseconds.
    MicroTime(MicroTime),
    /// A duration.
    Duration(Duration),
    /// A number or a text.
    IntOrString(&'a IntOrString),
    /// An embedded object.
    RawExtension(&'a RawExtension),
    /// A set of fields.
    FieldsV1(&'a FieldsV1),
    /// Any JSON value.
    Json(&'a JsonValue),
    /// An object without declared fields.
    Document(&'a Document),
    /// A struct, embedded or in an `Option`.
    Struct(Ref<'a>),
    /// A list of scalars.
    List(List<'a>),
    /// A map of scalars.
    Map(Map<'a>),
    /// A list of structs.
    StructList(StructList<'a>),
    /// A map of structs.
    StructMap(StructMap<'a>),
}

/// A mutable view of a field.
pub enum Slot<'a> {
    /// A scalar.
    One(OneMut<'a>),
    /// An optional scalar.
    Opt(OptMut<'a>),
    /// A list of scalars.
    List(ListMut<'a>),
    /// A map of scalars.
    Map(MapMut<'a>),
    /// An embedded struct.
    Struct(Mut<'a>),
    /// An optional struct.
    OptStruct(OptStructMut<'a>),
    /// A list of structs.
    StructList(StructListMut<'a>),
    /// A map of structs.
    StructMap(StructMapMut<'a>),
}

/// Conversion of a scalar in a [`Value`] to its owned type.
trait Held<T> {
    fn held(self) -> T;
}

impl<T: Clone> Held<T> for &T {
    fn held(self) -> T {
        self.clone()
    }
}

impl Held<String> for &str {
    fn held(self) -> String {
        self.to_owned()
    }
}

macro_rules! held_by_value {
    ($($ty:ty),*) => {
        $(impl Held<$ty> for $ty {
            fn held(self) -> $ty {
                self
            }
        })*
    };
}
held_by_value!(bool, i32, i64, f64, Time, MicroTime, Duration);

/// Conversion of a scalar to a [`Value`].
trait Lent {
    fn lent(&self) -> Value<'_>;
}

macro_rules! lent {
    ($($variant:ident: $ty:ty),* $(,)?) => {
        $(impl Lent for $ty {
            fn lent(&self) -> Value<'_> {
                Value::$variant(self)
            }
        })*
    };
}
lent!(
    String: String, Bytes: Bytes, Quantity: Quantity, IntOrString: IntOrString, RawExtension: RawExtension,
    FieldsV1: FieldsV1, Json: JsonValue, Document: Document,
);

macro_rules! lent_by_value {
    ($($variant:ident: $ty:ty),* $(,)?) => {
        $(impl Lent for $ty {
            fn lent(&self) -> Value<'_> {
                Value::$variant(*self)
            }
        })*
    };
}
lent_by_value!(Bool: bool, I32: i32, I64: i64, F64: f64, Time: Time, MicroTime: MicroTime, Duration: Duration);

macro_rules! per_scalar {
    ($($variant:ident: $ty:ty),* $(,)?) => {
        /// A read-only view of a `Vec` of scalars.
        #[derive(Clone, Copy)]
        pub enum List<'a> {
            $(
                #[doc = concat!("A `Vec` of `", stringify!($ty), "`.")]
                $variant(&'a Vec<$ty>),
            )*
        }

        /// A read-only view of a `BTreeMap<String, _>` of scalars.
        #[derive(Clone, Copy)]
        pub enum Map<'a> {
            $(
                #[doc = concat!("A map of `", stringify!($ty), "`.")]
                $variant(&'a BTreeMap<String, $ty>),
            )*
        }

        /// A mutable view of a scalar.
        pub enum OneMut<'a> {
            $(
                #[doc = concat!("A field of type `", stringify!($ty), "`.")]
                $variant(&'a mut $ty),
            )*
        }

        /// A mutable view of an `Option` of a scalar.
        pub enum OptMut<'a> {
            $(
                #[doc = concat!("An `Option` of `", stringify!($ty), "`.")]
                $variant(&'a mut Option<$ty>),
            )*
        }

        /// A mutable view of a `Vec` of scalars.
        pub enum ListMut<'a> {
            $(
                #[doc = concat!("A `Vec` of `", stringify!($ty), "`.")]
                $variant(&'a mut Vec<$ty>),
            )*
        }

        /// A mutable view of a `BTreeMap<String, _>` of scalars.
        pub enum MapMut<'a> {
            $(
                #[doc = concat!("A map of `", stringify!($ty), "`.")]
                $variant(&'a mut BTreeMap<String, $ty>),
            )*
        }

        impl<'a> List<'a> {
            /// The number of items.
            pub fn len(self) -> usize {
                match self { $(List::$variant(v) => v.len()),* }
            }
            /// The item at `index`, if there is one.
            pub fn get(self, index: usize) -> Option<Value<'a>> {
                match self { $(List::$variant(v) => v.get(index).map(Lent::lent)),* }
            }
            /// Whether there are no items.
            pub fn is_empty(self) -> bool {
                self.len() == 0
            }
        }

        impl<'a> Map<'a> {
            /// The number of entries.
            pub fn len(self) -> usize {
                match self { $(Map::$variant(v) => v.len()),* }
            }
            /// The value at `key`, if there is one.
            pub fn get(self, key: &str) -> Option<Value<'a>> {
                match self { $(Map::$variant(v) => v.get(key).map(Lent::lent)),* }
            }
            /// Visits the entries in key order.
            pub fn for_each(self, mut f: impl FnMut(&'a str, Value<'a>)) {
                match self { $(Map::$variant(v) => v.iter().for_each(|(key, value)| f(key, value.lent()))),* }
            }
            /// Whether there are no entries.
            pub fn is_empty(self) -> bool {
                self.len() == 0
            }
        }

        impl Slot<'_> {
            /// Sets the field to the zero value of its type: null, empty, 0.
            pub fn clear(self) {
                match self {
                    Slot::One(one) => match one { $(OneMut::$variant(v) => *v = Default::default()),* },
                    Slot::Opt(opt) => match opt { $(OptMut::$variant(v) => *v = None),* },
                    Slot::List(list) => match list { $(ListMut::$variant(v) => v.clear()),* },
                    Slot::Map(map) => match map { $(MapMut::$variant(v) => v.clear()),* },
                    Slot::Struct(mut s) => {
                        let empty = super::owned::Owned::new(s.def());
                        s.assign(empty.as_ref());
                    }
                    Slot::OptStruct(s) => s.clear(),
                    Slot::StructList(mut l) => l.truncate(0),
                    Slot::StructMap(mut m) => m.clear(),
                }
            }

            /// Assigns the value of `from`; returns false if the types differ.
            pub fn assign(self, from: Value<'_>) -> bool {
                match (self, from) {
                    (slot, Value::Null) => slot.clear(),
                    $((Slot::One(OneMut::$variant(to)), Value::$variant(from)) => *to = from.held(),)*
                    $((Slot::Opt(OptMut::$variant(to)), Value::$variant(from)) => *to = Some(from.held()),)*
                    $((Slot::List(ListMut::$variant(to)), Value::List(List::$variant(from))) => to.clone_from(from),)*
                    $((Slot::Map(MapMut::$variant(to)), Value::Map(Map::$variant(from))) => to.clone_from(from),)*
                    (Slot::Struct(mut to), Value::Struct(from)) => return to.assign(from),
                    (Slot::OptStruct(to), Value::Struct(from)) => return to.get_or_insert().assign(from),
                    (Slot::StructList(mut to), Value::StructList(from)) => {
                        to.truncate(0);
                        return from.iter().all(|item| to.push().assign(item));
                    }
                    (Slot::StructMap(mut to), Value::StructMap(from)) => {
                        let mut same = true;
                        to.clear();
                        from.for_each(|key, value| same &= to.entry(key.to_owned()).assign(value));
                        return same;
                    }
                    _ => return false,
                }
                true
            }
        }

        impl PartialEq for List<'_> {
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    $((List::$variant(a), List::$variant(b)) => a == b,)*
                    _ => false,
                }
            }
        }

        impl PartialEq for Map<'_> {
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Map::$variant(a), Map::$variant(b)) => a == b,)*
                    _ => false,
                }
            }
        }
    };
}
per_scalar!(
    Bool: bool, I32: i32, I64: i64, F64: f64, String: String, Bytes: Bytes, Quantity: Quantity, Time: Time,
    MicroTime: MicroTime, Duration: Duration, IntOrString: IntOrString, RawExtension: RawExtension,
    FieldsV1: FieldsV1, Json: JsonValue, Document: Document,
);

impl<'a> Value<'a> {
    /// Whether Go's `omitempty` omits the value: null, false, 0, empty; never an embedded struct.
    pub fn is_empty(self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(v) => !v,
            Value::I32(v) => v == 0,
            Value::I64(v) => v == 0,
            Value::F64(v) => v == 0.0,
            Value::String(v) => v.is_empty(),
            Value::Bytes(v) => v.is_empty(),
            Value::Time(v) => v.is_zero(),
            Value::MicroTime(v) => v.is_zero(),
            Value::List(v) => v.is_empty(),
            Value::Map(v) => v.is_empty(),
            Value::StructList(v) => v.is_empty(),
            Value::StructMap(v) => v.is_empty(),
            Value::RawExtension(v) => v.is_empty(),
            Value::Json(v) => v.is_empty(),
            Value::FieldsV1(v) => v.is_empty(),
            Value::Document(v) => v.0.is_empty(),
            Value::Quantity(_) | Value::Duration(_) | Value::IntOrString(_) | Value::Struct(_) => false,
        }
    }

    /// The text, if it is a string.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Value::String(s) => Some(s),
            _ => None,
        }
    }

    /// The struct, if it is one.
    pub fn as_struct(self) -> Option<Ref<'a>> {
        match self {
            Value::Struct(s) => Some(s),
            _ => None,
        }
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::I32(a), Value::I32(b)) => a == b,
            (Value::I64(a), Value::I64(b)) => a == b,
            (Value::F64(a), Value::F64(b)) => a == b,
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Quantity(a), Value::Quantity(b)) => a == b,
            (Value::Time(a), Value::Time(b)) => a == b,
            (Value::MicroTime(a), Value::MicroTime(b)) => a == b,
            (Value::Duration(a), Value::Duration(b)) => a == b,
            (Value::IntOrString(a), Value::IntOrString(b)) => a == b,
            (Value::RawExtension(a), Value::RawExtension(b)) => a == b,
            (Value::FieldsV1(a), Value::FieldsV1(b)) => a == b,
            (Value::Json(a), Value::Json(b)) => a == b,
            (Value::Document(a), Value::Document(b)) => a == b,
            (Value::Struct(a), Value::Struct(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            (Value::StructList(a), Value::StructList(b)) => a.len() == b.len() && a.iter().eq(b.iter()),
            (Value::StructMap(a), Value::StructMap(b)) => {
                let mut same = a.len() == b.len();
                a.for_each(|k, v| same = same && b.get(k).is_some_and(|w| v == w));
                same
            }
            _ => false,
        }
    }
}

impl PartialEq for Ref<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.def(), other.def()) && self.holds_same(*other)
    }
}
