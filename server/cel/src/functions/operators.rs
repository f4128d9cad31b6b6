//! Operators. Those that do not evaluate all of their operands (`&&`, `||`, `?:`) are in `crate::eval`.

use std::cmp::Ordering;

use super::Function;
use crate::cost::Cost;
use crate::error::Error;
use crate::time;
use crate::value::{ListForString, MapValue, Value};

type Outcome<'a> = Result<Value<'a>, Error>;

const ORDERED: &[&str] = &[
    "(bool, bool) -> bool",
    "(int, int) -> bool",
    "(int, uint) -> bool",
    "(int, double) -> bool",
    "(uint, uint) -> bool",
    "(uint, int) -> bool",
    "(uint, double) -> bool",
    "(double, double) -> bool",
    "(double, int) -> bool",
    "(double, uint) -> bool",
    "(string, string) -> bool",
    "(bytes, bytes) -> bool",
    "(timestamp, timestamp) -> bool",
    "(duration, duration) -> bool",
];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("_&&_", &["(bool, bool) -> bool"], lazy, Cost::Fixed(0)),
    Function::new("_||_", &["(bool, bool) -> bool"], lazy, Cost::Fixed(0)),
    Function::new("_?_:_", &["(bool, A, A) -> A"], lazy, Cost::Fixed(0)),
    Function::new("@not_strictly_false", &["(bool) -> bool"], lazy, Cost::Fixed(1)),
    Function::new("!_", &["(bool) -> bool"], not, Cost::Fixed(1)),
    Function::new("-_", &["(int) -> int", "(double) -> double"], negate, Cost::Fixed(1)),
    Function::new("_==_", &["(A, A) -> bool"], equal, Cost::Smaller),
    Function::new("_!=_", &["(A, A) -> bool"], not_equal, Cost::Smaller),
    Function::new("_<_", ORDERED, |a| compare(a, Ordering::is_lt), Cost::Compare),
    Function::new("_<=_", ORDERED, |a| compare(a, Ordering::is_le), Cost::Compare),
    Function::new("_>_", ORDERED, |a| compare(a, Ordering::is_gt), Cost::Compare),
    Function::new("_>=_", ORDERED, |a| compare(a, Ordering::is_ge), Cost::Compare),
    Function::new(
        "_+_",
        &[
            "(int, int) -> int",
            "(uint, uint) -> uint",
            "(double, double) -> double",
            "(string, string) -> string",
            "(bytes, bytes) -> bytes",
            "(list<A>, list<A>) -> list<A>",
            "(timestamp, duration) -> timestamp",
            "(duration, timestamp) -> timestamp",
            "(duration, duration) -> duration",
        ],
        add,
        Cost::Add,
    ),
    Function::new(
        "_-_",
        &[
            "(int, int) -> int",
            "(uint, uint) -> uint",
            "(double, double) -> double",
            "(timestamp, timestamp) -> duration",
            "(timestamp, duration) -> timestamp",
            "(duration, duration) -> duration",
        ],
        subtract,
        Cost::Fixed(1),
    ),
    Function::new(
        "_*_",
        &["(int, int) -> int", "(uint, uint) -> uint", "(double, double) -> double"],
        multiply,
        Cost::Fixed(1),
    ),
    Function::new(
        "_/_",
        &["(int, int) -> int", "(uint, uint) -> uint", "(double, double) -> double"],
        divide,
        Cost::Fixed(1),
    ),
    Function::new("_%_", &["(int, int) -> int", "(uint, uint) -> uint"], modulo, Cost::Fixed(1)),
    Function::new("@in", &["(A, list<A>) -> bool", "(A, map<A, B>) -> bool"], contains, Cost::InList),
    Function::new(
        "_[_]",
        &[
            "(list<A>, int) -> A",
            "(map<A, B>, A) -> B",
            "(optional<list<A>>, int) -> optional<A>",
            "(optional<map<A, B>>, A) -> optional<B>",
        ],
        index,
        Cost::Fixed(1),
    ),
    Function::new(
        "_[?_]",
        &[
            "(list<A>, int) -> optional<A>",
            "(map<A, B>, A) -> optional<B>",
            "(optional<list<A>>, int) -> optional<A>",
            "(optional<map<A, B>>, A) -> optional<B>",
        ],
        optional_index,
        Cost::Fixed(1),
    ),
    Function::new("_?._", &["(dyn, string) -> optional<dyn>"], optional_index, Cost::Fixed(1)),
    Function::new(
        "cel.@mapInsert",
        &["(map<A, B>, map<A, B>) -> map<A, B>", "(map<A, B>, A, B) -> map<A, B>"],
        map_insert,
        Cost::Fixed(1),
    ),
];

fn lazy<'a>(_: &[Value<'a>]) -> Outcome<'a> {
    Err(Error::no_such_overload())
}

fn not<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Bool(value)] => Ok(Value::Bool(!value)),
        _ => lazy(args),
    }
}

fn negate<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(value)] => value.checked_neg().map(Value::Int).ok_or_else(overflow_int),
        [Value::Double(value)] => Ok(Value::Double(-value)),
        _ => lazy(args),
    }
}

fn equal<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [a, b] => truth(a.equality(b)),
        _ => lazy(args),
    }
}

/// The outcome of a comparison; an error if the comparison has no result.
fn truth<'a>(equality: Option<bool>) -> Outcome<'a> {
    equality.map(Value::Bool).ok_or_else(|| Error::failed(ListForString::MESSAGE))
}

fn not_equal<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [a, b] => Ok(Value::Bool(!a.equals(b))),
        _ => lazy(args),
    }
}

fn compare<'a>(args: &[Value<'a>], holds: fn(Ordering) -> bool) -> Outcome<'a> {
    let [a, b] = args else { return lazy(args) };
    match (a, b) {
        (Value::Double(x), _) if x.is_nan() => Err(Error::failed("NaN values cannot be ordered")),
        (_, Value::Double(x)) if x.is_nan() => Err(Error::failed("NaN values cannot be ordered")),
        _ => a.compare(b).map(|order| Value::Bool(holds(order))).ok_or_else(Error::no_such_overload),
    }
}

fn overflow_int() -> Error {
    Error::failed("integer overflow")
}

fn overflow_uint() -> Error {
    Error::failed("unsigned integer overflow")
}

fn timestamp<'a>(nanos: i128) -> Outcome<'a> {
    time::in_range(nanos).map(Value::Timestamp).ok_or_else(|| Error::failed("timestamp overflow"))
}

fn duration<'a>(nanos: Option<i64>) -> Outcome<'a> {
    nanos.map(Value::Duration).ok_or_else(|| Error::failed("duration overflow"))
}

pub(super) fn add<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let [a, b] = args else { return lazy(args) };
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.checked_add(*b).map(Value::Int).ok_or_else(overflow_int),
        (Value::Uint(a), Value::Uint(b)) => a.checked_add(*b).map(Value::Uint).ok_or_else(overflow_uint),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::String(a), Value::String(b)) => Ok(Value::string(format!("{}{}", &**a, &**b))),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Value::Bytes(a.iter().chain(b.iter()).copied().collect())),
        (Value::List(a), Value::List(b)) => Ok(Value::List(a.concat(b))),
        (Value::Timestamp(a), Value::Duration(b)) | (Value::Duration(b), Value::Timestamp(a)) => {
            timestamp(a + i128::from(*b))
        }
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_add(*b)),
        _ => lazy(args),
    }
}

fn subtract<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let [a, b] = args else { return lazy(args) };
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.checked_sub(*b).map(Value::Int).ok_or_else(overflow_int),
        (Value::Uint(a), Value::Uint(b)) => a.checked_sub(*b).map(Value::Uint).ok_or_else(overflow_uint),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => duration(i64::try_from(a - b).ok()),
        (Value::Timestamp(a), Value::Duration(b)) => timestamp(a - i128::from(*b)),
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_sub(*b)),
        _ => lazy(args),
    }
}

fn multiply<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(a), Value::Int(b)] => a.checked_mul(*b).map(Value::Int).ok_or_else(overflow_int),
        [Value::Uint(a), Value::Uint(b)] => a.checked_mul(*b).map(Value::Uint).ok_or_else(overflow_uint),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a * b)),
        _ => lazy(args),
    }
}

fn divide<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Error::failed("division by zero")),
        [Value::Int(a), Value::Int(b)] => a.checked_div(*b).map(Value::Int).ok_or_else(overflow_int),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a / b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a / b)),
        _ => lazy(args),
    }
}

fn modulo<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => Err(Error::failed("modulus by zero")),
        [Value::Int(a), Value::Int(b)] => a.checked_rem(*b).map(Value::Int).ok_or_else(overflow_int),
        [Value::Uint(a), Value::Uint(b)] => Ok(Value::Uint(a % b)),
        _ => lazy(args),
    }
}

fn contains<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [value, Value::List(list)] => truth(list.contains(value)),
        [key, Value::Map(map)] => Ok(Value::Bool(usable(map.get(key))?.is_some())),
        _ => lazy(args),
    }
}

/// The found value. Fails if the value is a list in place of a string, for which not even presence is
/// defined.
pub(crate) fn usable(found: Option<Value<'_>>) -> Result<Option<Value<'_>>, Error> {
    match found {
        Some(value) if value.is_list_for_string() => Err(Error::failed(ListForString::MESSAGE)),
        found => Ok(found),
    }
}

/// The value of a key or an index.
pub(crate) fn lookup<'a>(of: &Value<'a>, key: &Value<'_>) -> Result<Option<Value<'a>>, Error> {
    match (of, key) {
        (Value::List(list), Value::Double(at)) if at.fract() == 0.0 => {
            lookup(&Value::List(list.clone()), &Value::Int(*at as i64))
        }
        (Value::List(list), Value::Int(at)) => Ok(usize::try_from(*at).ok().and_then(|at| list.get(at))),
        (Value::List(list), Value::Uint(at)) => Ok(usize::try_from(*at).ok().and_then(|at| list.get(at))),
        (Value::Map(MapValue::Object(..) | MapValue::Made(..)), key) if key.as_str().is_none() => {
            Err(Error::no_such_overload())
        }
        (Value::Map(map), key) => usable(map.get(key)),
        _ => Err(Error::no_such_overload()),
    }
}

fn missing(of: &Value<'_>, key: &Value<'_>) -> Error {
    match (of, key) {
        (Value::List(_), Value::Int(at)) => Error::failed(format!("index out of bounds: {at}")),
        (_, Value::String(key)) => Error::no_such_key(&**key),
        (_, Value::Int(key)) => Error::no_such_key(key),
        _ => Error::no_such_key(format!("{key:?}")),
    }
}

fn index<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Optional(_), _] => optional_index(args),
        [of, key] => lookup(of, key)?.ok_or_else(|| missing(of, key)),
        _ => lazy(args),
    }
}

fn optional_index<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Optional(None), _] => Ok(Value::Optional(None)),
        [Value::Optional(Some(of)), key] => Ok(Value::Optional(lookup(of, key)?.map(std::sync::Arc::new))),
        [of, key] => Ok(Value::Optional(lookup(of, key)?.map(std::sync::Arc::new))),
        _ => lazy(args),
    }
}

fn map_insert<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let (Some(Value::Map(map)), added) = (args.first(), &args[1..]) else { return lazy(args) };
    let added = match added {
        [Value::Map(more)] => more.entries(),
        [key, value] => vec![(key.clone(), value.clone())],
        _ => return lazy(args),
    };
    let mut entries = map.entries();
    for (key, value) in added {
        if entries.iter().any(|(k, _)| k.equals(&key)) {
            return Err(Error::failed(format!(
                "insert failed: key {} already exists",
                key.as_str().unwrap_or_default()
            )));
        }
        entries.push((key, value));
    }
    Ok(Value::map(entries))
}
