//! Lists as sets (`ext.Sets`).

use super::{Function, list};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::{ListValue, Value};

const SIGNATURE: &[&str] = &["(list<A>, list<A>) -> bool"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("sets.contains", SIGNATURE, |a| test(a, within_second), Cost::Product),
    Function::new(
        "sets.equivalent",
        SIGNATURE,
        |a| test(a, |a, b| within_second(a, b) && within_second(b, a)),
        Cost::Product,
    ),
    Function::new(
        "sets.intersects",
        SIGNATURE,
        |a| test(a, |a, b| a.iter().any(|item| b.contains(&item) == Some(true))),
        Cost::Product,
    ),
];

fn test<'a>(args: &[Value<'a>], holds: fn(&ListValue<'a>, &ListValue<'a>) -> bool) -> Result<Value<'a>, Error> {
    Ok(Value::Bool(holds(list(&args[0])?, list(&args[1])?)))
}

/// Whether the second list contains all items of the first.
fn within_second<'a>(a: &ListValue<'a>, b: &ListValue<'a>) -> bool {
    b.iter().all(|item| a.contains(&item) == Some(true))
}
