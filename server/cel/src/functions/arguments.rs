//! The values of arguments.

use crate::error::Error;
use crate::value::{ListValue, Value};

pub(super) fn text<'v>(value: &'v Value<'_>) -> Result<&'v str, Error> {
    value.as_str().ok_or_else(Error::no_such_overload)
}

pub(super) fn int(value: &Value<'_>) -> Result<i64, Error> {
    match value {
        Value::Int(value) => Ok(*value),
        _ => Err(Error::no_such_overload()),
    }
}

pub(super) fn list<'v, 'a>(value: &'v Value<'a>) -> Result<&'v ListValue<'a>, Error> {
    match value {
        Value::List(list) => Ok(list),
        _ => Err(Error::no_such_overload()),
    }
}

/// An index into a list or string.
pub(super) fn index(value: &Value<'_>, length: usize) -> Result<usize, Error> {
    let at = int(value)?;
    usize::try_from(at)
        .ok()
        .filter(|at| *at <= length)
        .ok_or_else(|| Error::failed(format!("index out of range: {at}")))
}
