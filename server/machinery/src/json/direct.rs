//! JSON of hot types, written by code of their own.
//!
//! The walk of a descriptor decides again for each field what it is; a type that `describe!` is told to treat as `direct` decided when
//! it was compiled. What it writes is the same, byte for byte, by the same rules (`encode`).

use std::collections::BTreeMap;

use bytes::Bytes;

use super::encode::{close, structure};
use super::scalars::{JsonScalar, write_entries, write_items};
use crate::def::{Flags, JsonForm};
use crate::reflect::{Ref, Struct};
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

/// What a field of a struct may hold.
pub trait Member {
    /// What Go's `omitempty` leaves out ([`Value::is_empty`](crate::reflect::Value::is_empty)).
    fn is_empty(&self) -> bool;

    /// Appends the value.
    fn write(&self, out: &mut Vec<u8>);

    /// Appends the members of an inlined struct.
    fn write_inlined(&self, _: &mut Vec<u8>) {}
}

/// Appends a member, unless it is to be left out: a key of the form `,"name":`, and the value.
#[inline(always)]
pub fn member(value: &impl Member, key: &'static str, flags: Flags, out: &mut Vec<u8>) {
    if flags.has(Flags::INLINE) {
        value.write_inlined(out);
    } else if !(flags.has(Flags::OMIT_EMPTY) && value.is_empty()) {
        out.extend_from_slice(key.as_bytes());
        value.write(out);
    }
}

macro_rules! scalars {
    ($($ty:ty: $is_empty:expr;)*) => {$(
        impl Member for $ty {
            #[inline]
            fn is_empty(&self) -> bool {
                let is_empty: fn(&$ty) -> bool = $is_empty;
                is_empty(self)
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) {
                JsonScalar::write(self, out);
            }
        }
    )*};
}
scalars! {
    bool: |v| !*v;
    i32: |v| *v == 0;
    i64: |v| *v == 0;
    f64: |v| *v == 0.0;
    String: |v| v.is_empty();
    Quantity: |_| false;
    Time: |v| v.is_zero();
    MicroTime: |v| v.is_zero();
    Duration: |_| false;
    IntOrString: |_| false;
    RawExtension: |v| v.is_empty();
    FieldsV1: |v| v.is_empty();
    JsonValue: |v| v.is_empty();
    Document: |v| v.0.is_empty();
}

/// Bytes in place; those of an `Option` or a list are never Go's nil slice.
impl Member for Bytes {
    fn is_empty(&self) -> bool {
        Bytes::is_empty(self)
    }

    fn write(&self, out: &mut Vec<u8>) {
        if Bytes::is_empty(self) { out.extend_from_slice(b"null") } else { JsonScalar::write(self, out) }
    }
}

macro_rules! holders_of_scalars {
    ($($ty:ty),*) => {$(
        impl Member for Option<$ty> {
            #[inline]
            fn is_empty(&self) -> bool {
                self.is_none()
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    Some(value) => JsonScalar::write(value, out),
                    None => out.extend_from_slice(b"null"),
                }
            }
        }

        impl Member for Vec<$ty> {
            #[inline]
            fn is_empty(&self) -> bool {
                self.is_empty()
            }

            fn write(&self, out: &mut Vec<u8>) {
                write_items(out, self, JsonScalar::write);
            }
        }

        impl Member for BTreeMap<String, $ty> {
            #[inline]
            fn is_empty(&self) -> bool {
                self.is_empty()
            }

            fn write(&self, out: &mut Vec<u8>) {
                write_entries(out, self, JsonScalar::write);
            }
        }
    )*};
}
holders_of_scalars!(
    bool,
    i32,
    i64,
    f64,
    String,
    Bytes,
    Quantity,
    Time,
    MicroTime,
    Duration,
    IntOrString,
    RawExtension,
    FieldsV1,
    JsonValue,
    Document
);

impl<T: Struct> Member for T {
    #[inline]
    fn is_empty(&self) -> bool {
        false
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        if T::def().json_form != JsonForm::Fields {
            return structure(Ref::of(self), out);
        }
        let start = out.len();
        self.write_members(out);
        close(start, out);
    }

    #[inline]
    fn write_inlined(&self, out: &mut Vec<u8>) {
        self.write_members(out);
    }
}

impl<T: Struct> Member for Option<Box<T>> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.is_none()
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => Member::write(&**value, out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

impl<T: Struct> Member for Vec<T> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_items(out, self, Member::write);
    }
}

impl<T: Struct> Member for BTreeMap<String, T> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_entries(out, self, Member::write);
    }
}
