//! Converts constants of declarations to scalars.

use bytes::Bytes;

use crate::def::Literal;
use crate::scalar::go_text::append_json_string;
use crate::scalar::{Document, Duration, FieldsV1, IntOrString, JsonValue, MicroTime, Quantity, RawExtension, Time};

/// A scalar that a constant can initialize; `None` for a constant of the wrong type.
pub(super) trait FromLiteral: Sized {
    fn from_literal(literal: Literal) -> Option<Self>;
}

/// Implements [`FromLiteral`] by a table of patterns.
macro_rules! from_literal {
    ($($ty:ty { $($pattern:pat => $value:expr),* $(,)? })*) => {$(
        impl FromLiteral for $ty {
            fn from_literal(literal: Literal) -> Option<Self> {
                match literal {
                    $($pattern => $value,)*
                    _ => None,
                }
            }
        }
    )*};
}
from_literal! {
    bool { Literal::Bool(v) => Some(v) }
    i32 { Literal::Int(v) => v.try_into().ok() }
    i64 { Literal::Int(v) => Some(v) }
    f64 { Literal::Float(v) => Some(v), Literal::Int(v) => Some(v as f64) }
    String { Literal::String(v) => Some(v.to_owned()) }
    Bytes { Literal::String(v) => Some(Bytes::from_static(v.as_bytes())) }
    Quantity { Literal::String(v) => Quantity::parse(v).ok(), Literal::Int(v) => Quantity::parse(&v.to_string()).ok() }
    Time { Literal::String(v) => Time::parse(v).ok() }
    MicroTime { Literal::String(v) => MicroTime::parse(v).ok() }
    Duration { Literal::String(v) => Duration::parse(v).ok() }
    IntOrString {
        Literal::Int(v) => v.try_into().ok().map(IntOrString::Int),
        Literal::String(v) => Some(IntOrString::String(v.to_owned())),
    }
}

macro_rules! from_json_literal {
    ($($ty:ident),*) => {$(
        impl FromLiteral for $ty {
            fn from_literal(literal: Literal) -> Option<Self> {
                Some($ty::from_json(json(literal)))
            }
        }
    )*};
}
from_json_literal!(RawExtension, FieldsV1, JsonValue);

impl FromLiteral for Document {
    fn from_literal(literal: Literal) -> Option<Self> {
        serde_json::from_slice(&json(literal)).ok().map(Document)
    }
}

fn json(literal: Literal) -> Bytes {
    let mut out = Vec::new();
    append_json(&mut out, literal);
    out.into()
}

fn append_json(out: &mut Vec<u8>, literal: Literal) {
    match literal {
        Literal::Bool(v) => out.extend_from_slice(if v { b"true" } else { b"false" }),
        Literal::Int(v) => out.extend_from_slice(v.to_string().as_bytes()),
        Literal::Float(v) => out.extend_from_slice(v.to_string().as_bytes()),
        Literal::String(v) => append_json_string(out, v),
        Literal::List(items) => separated(out, b"[]", items, |out, item| append_json(out, *item)),
        Literal::Object(members) => separated(out, b"{}", members, |out, (name, value)| {
            append_json_string(out, name);
            out.push(b':');
            append_json(out, *value);
        }),
    }
}

fn separated<T>(out: &mut Vec<u8>, brackets: &[u8; 2], items: &[T], each: impl Fn(&mut Vec<u8>, &T)) {
    out.push(brackets[0]);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        each(out, item);
    }
    out.push(brackets[1]);
}
