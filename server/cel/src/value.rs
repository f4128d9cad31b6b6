//! Values. Documents (JSON) are borrowed and never copied; values that an expression creates are
//! shared.

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::error::Error;
use crate::types::Type;

mod collection;
mod json;

pub use collection::{ListValue, MapValue};

/// A value of an expression; `'a` is the lifetime of the documents that it borrows.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Text<'a>),
    Bytes(Arc<[u8]>),
    /// Nanoseconds since 1970.
    Timestamp(i128),
    /// Nanoseconds.
    Duration(i64),
    List(ListValue<'a>),
    Map(MapValue<'a>),
    Optional(Option<Arc<Value<'a>>>),
    Type(Type),
    /// A value of a library type.
    Opaque(Arc<dyn Opaque>),
}

/// A string, borrowed from a document or created.
#[derive(Clone)]
pub enum Text<'a> {
    Borrowed(&'a str),
    Shared(Arc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A value of a library type.
pub trait Opaque: fmt::Debug + Send + Sync + Any {
    /// Name of the type.
    fn type_name(&self) -> &'static str;

    fn as_any(&self) -> &dyn Any;

    fn equals(&self, other: &dyn Opaque) -> bool;
}

/// A list in place of a string, which upstream's validator accepts for a string with a format. An
/// expression fails if it uses the value, looks it up or compares it (`UnstructuredToVal`,
/// `refQualify`).
#[derive(Debug)]
pub(crate) struct ListForString;

impl ListForString {
    pub(crate) const MESSAGE: &str = "invalid data, expected string, got []interface {}";
}

impl Opaque for ListForString {
    fn type_name(&self) -> &'static str {
        "error"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, _: &dyn Opaque) -> bool {
        false
    }
}

impl<'a> Value<'a> {
    /// A created string.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Value::String(Text::Shared(text.into()))
    }

    /// A created list.
    pub fn list(items: Vec<Value<'a>>) -> Self {
        Value::List(ListValue::Items(Arc::new(items)))
    }

    /// A created map with its entries in order.
    pub fn map(entries: Vec<(Value<'a>, Value<'a>)>) -> Self {
        Value::Map(MapValue::Entries(Arc::new(entries)))
    }

    /// A value of a library type.
    pub fn opaque(value: impl Opaque) -> Self {
        Value::Opaque(Arc::new(value))
    }

    /// A document as a value of its declared type.
    pub fn json(document: &'a Json, of: &'a Type) -> Self {
        json::read(document, of)
    }

    /// A document without a declared type.
    pub fn untyped(document: &'a Json) -> Self {
        json::read(document, &Type::Dyn)
    }

    /// The value as a document.
    ///
    /// # Errors
    /// Fails if JSON cannot represent the value.
    pub fn to_json(&self) -> Result<Json, Error> {
        json::write(self)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value as one of a library type.
    pub fn as_opaque<T: Opaque>(&self) -> Option<&T> {
        match self {
            Value::Opaque(value) => value.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// The type, as returned by `type(x)`.
    pub fn type_of(&self) -> Type {
        match self {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Double(_) => Type::Double,
            Value::String(_) => Type::String,
            Value::Bytes(_) => Type::Bytes,
            Value::Timestamp(_) => Type::Timestamp,
            Value::Duration(_) => Type::Duration,
            Value::List(_) => Type::list(Type::Dyn),
            Value::Map(map) => map.type_of(),
            Value::Optional(_) => Type::optional(Type::Dyn),
            Value::Type(_) => Type::Kind(Arc::new(Type::Dyn)),
            Value::Opaque(value) => Type::Opaque(value.type_name()),
        }
    }

    /// Number of elements, entries, characters or bytes; 1 for values without a size (cel-go's
    /// `actualSize`).
    pub fn size(&self) -> u64 {
        let size = match self {
            Value::String(text) => text.chars().count(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            _ => 1,
        };
        size as u64
    }

    /// Whether the value is the zero value of its type (`optional.ofNonZeroValue`).
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::Int(0) | Value::Uint(0) | Value::Duration(0) => true,
            Value::Double(value) => *value == 0.0,
            Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_) => self.size() == 0,
            Value::Optional(value) => value.is_none(),
            _ => false,
        }
    }

    /// Whether the value is definitely equal to another. Numbers of different types are equal if their
    /// values are.
    pub fn equals(&self, other: &Value<'_>) -> bool {
        self.equality(other) == Some(true)
    }

    /// `==`. `None` if a [`ListForString`] was compared before a difference was found.
    pub(crate) fn equality(&self, other: &Value<'_>) -> Option<bool> {
        Some(match (self, other) {
            (a, b) if a.is_list_for_string() || b.is_list_for_string() => return None,
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::String(a), Value::String(b)) => **a == **b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
            (Value::Duration(a), Value::Duration(b)) => a == b,
            (Value::List(a), Value::List(b)) => return a.equality(b),
            (Value::Map(a), Value::Map(b)) => return a.equality(b),
            (Value::Optional(a), Value::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => return a.equality(b),
                (a, b) => a.is_none() && b.is_none(),
            },
            (Value::Type(a), Value::Type(b)) => a.base_name() == b.base_name(),
            (Value::Opaque(a), Value::Opaque(b)) => a.equals(&**b),
            _ => self.is_number() && self.compare(other) == Some(Ordering::Equal),
        })
    }

    /// Whether the value is a list in place of a string ([`ListForString`]).
    pub(crate) fn is_list_for_string(&self) -> bool {
        self.as_opaque::<ListForString>().is_some()
    }

    fn is_number(&self) -> bool {
        matches!(self, Value::Int(_) | Value::Uint(_) | Value::Double(_))
    }

    /// `<` and the other order comparisons; `None` for values without an order.
    pub fn compare(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::String(a), Value::String(b)) => Some((**a).cmp(&**b)),
            (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
            (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(b)),
            (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
            (Value::Double(a), b) => b.integer().and_then(|b| compare_mixed(b, *a)).map(Ordering::reverse),
            (a, Value::Double(b)) => a.integer().and_then(|a| compare_mixed(a, *b)),
            (a, b) => Some(a.integer()?.cmp(&b.integer()?)),
        }
    }

    fn integer(&self) -> Option<i128> {
        match self {
            Value::Int(value) => Some(i128::from(*value)),
            Value::Uint(value) => Some(i128::from(*value)),
            _ => None,
        }
    }
}

fn compare_mixed(whole: i128, other: f64) -> Option<Ordering> {
    (whole as f64).partial_cmp(&other)
}
