//! Quantities.

use std::any::Any;
use std::cmp::Ordering;

use machinery::scalar::Quantity;

use super::{Function, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::{Opaque, Value};

type Outcome<'a> = Result<Value<'a>, Error>;

const NAME: &str = "kubernetes.Quantity";
const COMPARED: &[&str] =
    &["kubernetes.Quantity.(kubernetes.Quantity) -> bool", "kubernetes.Semver.(kubernetes.Semver) -> bool"];
const SUMMED: &[&str] = &[
    "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity",
    "kubernetes.Quantity.(int) -> kubernetes.Quantity",
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("quantity", &["(string) -> kubernetes.Quantity"], parse, Cost::Scan(0)),
    Function::new(
        "isQuantity",
        &["(string) -> bool"],
        |a| Ok(Value::Bool(Quantity::parse(text(&a[0])?).is_ok())),
        Cost::Scan(0),
    ),
    Function::new(
        "sign",
        &["kubernetes.Quantity.() -> int"],
        |a| Ok(Value::Int(of(&a[0])?.sign() as i64)),
        Cost::Fixed(1),
    ),
    Function::new(
        "asApproximateFloat",
        &["kubernetes.Quantity.() -> double"],
        |a| Ok(Value::Double(of(&a[0])?.as_approximate_f64())),
        Cost::Fixed(1),
    ),
    Function::new("asInteger", &["kubernetes.Quantity.() -> int"], as_integer, Cost::Fixed(1)),
    Function::new(
        "isInteger",
        &["kubernetes.Quantity.() -> bool"],
        |a| Ok(Value::Bool(of(&a[0])?.as_i64().is_some())),
        Cost::Fixed(1),
    ),
    Function::new("add", SUMMED, |a| changed(a, Quantity::add), Cost::Fixed(1)),
    Function::new("sub", SUMMED, |a| changed(a, Quantity::sub), Cost::Fixed(1)),
    Function::new("isGreaterThan", COMPARED, |a| ordered(a, Ordering::is_gt), Cost::Fixed(1)),
    Function::new("isLessThan", COMPARED, |a| ordered(a, Ordering::is_lt), Cost::Fixed(1)),
    Function::new(
        "compareTo",
        &["kubernetes.Quantity.(kubernetes.Quantity) -> int", "kubernetes.Semver.(kubernetes.Semver) -> int"],
        |a| Ok(Value::Int(order(a)? as i64)),
        Cost::Fixed(1),
    ),
];

#[derive(Debug)]
struct Amount(Quantity);

impl Opaque for Amount {
    fn type_name(&self) -> &'static str {
        NAME
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Amount>().is_some_and(|other| self.0 == other.0)
    }
}

pub(super) fn display(value: &Value<'_>) -> Option<String> {
    value.as_opaque::<Amount>().map(|amount| amount.0.to_string())
}

fn of<'v>(value: &'v Value<'_>) -> Result<&'v Quantity, Error> {
    value.as_opaque::<Amount>().map(|amount| &amount.0).ok_or_else(Error::no_such_overload)
}

fn parse<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    Quantity::parse(text(&args[0])?).map(|q| Value::opaque(Amount(q))).map_err(|e| Error::failed(e.to_string()))
}

fn as_integer<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    of(&args[0])?.as_i64().map(Value::Int).ok_or_else(|| Error::failed("cannot convert value to integer"))
}

fn changed<'a>(args: &[Value<'a>], change: fn(&mut Quantity, &Quantity)) -> Outcome<'a> {
    let mut amount = of(&args[0])?.clone();
    match &args[1] {
        Value::Int(value) => {
            let other = Quantity::parse(&value.to_string()).map_err(|e| Error::failed(e.to_string()))?;
            change(&mut amount, &other);
        }
        other => change(&mut amount, of(other)?),
    }
    Ok(Value::opaque(Amount(amount)))
}

/// Quantities and versions share the names of their comparisons.
fn order(args: &[Value<'_>]) -> Result<Ordering, Error> {
    super::semver::order(args).map_or_else(|| Ok(of(&args[0])?.cmp(of(&args[1])?)), Ok)
}

fn ordered<'a>(args: &[Value<'a>], holds: fn(Ordering) -> bool) -> Outcome<'a> {
    Ok(Value::Bool(holds(order(args)?)))
}
