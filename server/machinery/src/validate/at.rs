//! Values as checks see them.

use crate::def::{FieldDef, Flags, Scalar, Shape, StructDef};
use crate::defaulting::apply_defaults;
use crate::field_error::BadValue;
use crate::field_path::Path;
use crate::reflect::{List, Map, Owned, Value};

/// A field, or a value in it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub shape: Shape,
    pub path: &'a Path<'a>,
    pub new: Value<'a>,
    /// `None` if the container of the value has no old form.
    pub old: Option<Value<'a>>,
}

/// Whether a field is set: an `Option` if it is `Some`, everything else if it is not zero.
pub(super) fn is_set(shape: Shape, value: Value<'_>) -> bool {
    match (shape, value) {
        (Shape::Opt(_) | Shape::OptStruct(_), value) => !matches!(value, Value::Null),
        (_, Value::Quantity(v)) => !v.is_zero(),
        (_, Value::Duration(v)) => v.nanos() != 0,
        (_, Value::IntOrString(v)) => *v != Default::default(),
        (_, Value::Struct(v)) => v != Owned::new(v.def()).as_ref(),
        (_, value) => !value.is_empty(),
    }
}

/// Whether a field is present, so that the fields below it are checked.
///
/// An embedded struct is present if some of its fields are always encoded; an exported definition
/// fills it in then.
pub(super) fn is_present(shape: Shape, value: Value<'_>, is_declared: bool) -> bool {
    let is_written = |def: &StructDef| {
        let always = |field: &FieldDef| !field.flags.has(Flags::OMIT_EMPTY) && !field.flags.has(Flags::REQUIRED);
        !has_required(def) && def.fields.iter().any(always)
    };
    is_set(shape, value) || matches!(shape, Shape::Struct(def) if is_declared && is_written(def))
}

/// A new struct with its defaults.
pub(super) fn filled(def: &'static StructDef) -> Owned {
    let mut made = Owned::new(def);
    apply_defaults(made.as_mut());
    made
}

pub(super) fn has_required(def: &StructDef) -> bool {
    def.fields.iter().any(|field| field.flags.has(Flags::REQUIRED))
}

/// Whether a zero value counts as unset. A number that is 0 may have been sent.
pub(super) fn zero_is_unset(shape: Shape) -> bool {
    use Scalar::{Bool, Duration, F64, I32, I64, IntOrString, Quantity};
    !matches!(shape, Shape::One(Bool | I32 | I64 | F64 | Quantity | Duration | IntOrString))
}

/// A value in the form that errors show.
pub(super) fn shown(value: Value<'_>) -> BadValue {
    match value {
        Value::String(text) => text.into(),
        Value::I32(number) => number.into(),
        Value::I64(number) => number.into(),
        Value::Bool(value) => BadValue::Bool(value),
        Value::F64(number) => BadValue::Float(number),
        Value::Quantity(quantity) => BadValue::String(quantity.to_string()),
        Value::List(List::String(texts)) => BadValue::strings(texts),
        Value::Map(Map::String(texts)) => BadValue::string_map(texts),
        Value::Struct(of) => {
            let mut json = Vec::new();
            crate::json::encode(of, &mut json);
            BadValue::Json(String::from_utf8_lossy(&json).into_owned())
        }
        _ => BadValue::None,
    }
}

pub(super) fn length(value: Value<'_>) -> usize {
    match value {
        Value::List(v) => v.len(),
        Value::StructList(v) => v.len(),
        Value::Map(v) => v.len(),
        Value::StructMap(v) => v.len(),
        _ => 0,
    }
}
