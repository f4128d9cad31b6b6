//! Optional values (`cel.OptionalTypes`). `or` and `orValue` evaluate their argument only if needed, in
//! `crate::eval`.

use std::sync::Arc;

use super::{Function, list};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::Value;

type Outcome<'a> = Result<Value<'a>, Error>;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "optional.of",
        &["(A) -> optional<A>"],
        |a| Ok(Value::Optional(Some(Arc::new(a[0].clone())))),
        Cost::Fixed(1),
    ),
    Function::new("optional.ofNonZeroValue", &["(A) -> optional<A>"], of_non_zero, Cost::Fixed(1)),
    Function::new("optional.none", &["() -> optional<A>"], |_| Ok(Value::Optional(None)), Cost::Fixed(1)),
    Function::new(
        "hasValue",
        &["optional<A>.() -> bool"],
        |a| Ok(Value::Bool(optional(&a[0])?.is_some())),
        Cost::Fixed(1),
    ),
    Function::new("value", &["optional<A>.() -> A"], value, Cost::Fixed(1)),
    Function::new("or", &["optional<A>.(optional<A>) -> optional<A>"], or, Cost::Fixed(1)),
    Function::new("orValue", &["optional<A>.(A) -> A"], or_value, Cost::Fixed(1)),
    Function::new("optional.unwrap", &["(list<optional<A>>) -> list<A>"], unwrap, Cost::Fixed(1)),
    Function::new("unwrapOpt", &["list<optional<A>>.() -> list<A>"], unwrap, Cost::Fixed(1)),
];

fn optional<'v, 'a>(value: &'v Value<'a>) -> Result<&'v Option<Arc<Value<'a>>>, Error> {
    match value {
        Value::Optional(value) => Ok(value),
        _ => Err(Error::no_such_overload()),
    }
}

fn of_non_zero<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Optional((!args[0].is_zero()).then(|| Arc::new(args[0].clone()))))
}

fn value<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    optional(&args[0])?.as_deref().cloned().ok_or_else(|| Error::failed("optional.none() dereference"))
}

fn or<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    optional(&args[1])?;
    Ok(if optional(&args[0])?.is_some() { args[0].clone() } else { args[1].clone() })
}

fn or_value<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    Ok(optional(&args[0])?.as_deref().unwrap_or(&args[1]).clone())
}

fn unwrap<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let mut out = Vec::new();
    for item in list(&args[0])?.iter() {
        out.extend(optional(&item)?.as_deref().cloned());
    }
    Ok(Value::list(out))
}
