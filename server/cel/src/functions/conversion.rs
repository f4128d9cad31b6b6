//! Conversions between types, `size`, `type` and `dyn`.

use std::sync::Arc;

use super::{Function, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::functions::{addresses, quantity};
use crate::time;
use crate::value::Value;

type Outcome<'a> = Result<Value<'a>, Error>;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("dyn", &["(A) -> dyn"], same, Cost::Fixed(1)),
    Function::new("type", &["(A) -> type<A>"], type_of, Cost::Fixed(1)),
    Function::new(
        "size",
        &[
            "(string) -> int",
            "(bytes) -> int",
            "(list<A>) -> int",
            "(map<A, B>) -> int",
            "string.() -> int",
            "bytes.() -> int",
            "list<A>.() -> int",
            "map<A, B>.() -> int",
        ],
        size,
        Cost::Fixed(1),
    ),
    Function::new("bool", &["(bool) -> bool", "(string) -> bool"], to_bool, Cost::Fixed(1)),
    Function::new(
        "int",
        &[
            "(int) -> int",
            "(uint) -> int",
            "(double) -> int",
            "(string) -> int",
            "(timestamp) -> int",
            "(duration) -> int",
        ],
        to_int,
        Cost::Fixed(1),
    ),
    Function::new(
        "uint",
        &["(uint) -> uint", "(int) -> uint", "(double) -> uint", "(string) -> uint"],
        to_uint,
        Cost::Fixed(1),
    ),
    Function::new(
        "double",
        &["(double) -> double", "(int) -> double", "(uint) -> double", "(string) -> double"],
        to_double,
        Cost::Fixed(1),
    ),
    Function::new(
        "string",
        &[
            "(string) -> string",
            "(bool) -> string",
            "(int) -> string",
            "(uint) -> string",
            "(double) -> string",
            "(bytes) -> string",
            "(timestamp) -> string",
            "(duration) -> string",
            "(net.IP) -> string",
            "(net.CIDR) -> string",
        ],
        to_string,
        Cost::BytesToText,
    ),
    Function::new("bytes", &["(bytes) -> bytes", "(string) -> bytes"], to_bytes, Cost::Scan(0)),
    Function::new(
        "timestamp",
        &["(timestamp) -> timestamp", "(string) -> timestamp", "(int) -> timestamp"],
        to_timestamp,
        Cost::Fixed(1),
    ),
    Function::new(
        "duration",
        &["(duration) -> duration", "(string) -> duration", "(int) -> duration"],
        to_duration,
        Cost::Fixed(1),
    ),
];

fn one<'v, 'a>(args: &'v [Value<'a>]) -> Result<&'v Value<'a>, Error> {
    args.first().ok_or_else(Error::no_such_overload)
}

fn same<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    one(args).cloned()
}

fn type_of<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Type(one(args)?.type_of()))
}

fn size<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match one(args)? {
        value @ (Value::String(_) | Value::Bytes(_) | Value::List(_) | Value::Map(_)) => {
            Ok(Value::Int(value.size() as i64))
        }
        _ => Err(Error::no_such_overload()),
    }
}

fn conversion_error(value: &Value<'_>, to: &str) -> Error {
    Error::failed(format!("type conversion error from '{}' to '{to}'", value.type_of().base_name()))
}

fn to_bool<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match one(args)? {
        Value::Bool(value) => Ok(Value::Bool(*value)),
        value => match text(value)? {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(conversion_error(value, "bool")),
        },
    }
}

fn to_int<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let overflow = || Error::failed("integer overflow");
    match one(args)? {
        Value::Int(value) => Ok(Value::Int(*value)),
        Value::Uint(value) => i64::try_from(*value).map(Value::Int).map_err(|_| overflow()),
        // cel-go excludes both ends of the range, because a double cannot represent them.
        Value::Double(value) if value.is_finite() && *value > i64::MIN as f64 && *value < i64::MAX as f64 => {
            Ok(Value::Int(*value as i64))
        }
        Value::Double(_) => Err(overflow()),
        Value::Timestamp(nanos) => Ok(Value::Int(nanos.div_euclid(i128::from(time::SECOND)) as i64)),
        Value::Duration(nanos) => Ok(Value::Int(*nanos)),
        value => text(value)?.parse().map(Value::Int).map_err(|_| conversion_error(value, "int")),
    }
}

fn to_uint<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let overflow = || Error::failed("unsigned integer overflow");
    match one(args)? {
        Value::Uint(value) => Ok(Value::Uint(*value)),
        Value::Int(value) => u64::try_from(*value).map(Value::Uint).map_err(|_| overflow()),
        Value::Double(value) if *value >= 0.0 && *value < u64::MAX as f64 => Ok(Value::Uint(*value as u64)),
        Value::Double(_) => Err(overflow()),
        value => text(value)?.parse().map(Value::Uint).map_err(|_| conversion_error(value, "uint")),
    }
}

fn to_double<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match one(args)? {
        Value::Double(value) => Ok(Value::Double(*value)),
        Value::Int(value) => Ok(Value::Double(*value as f64)),
        Value::Uint(value) => Ok(Value::Double(*value as f64)),
        value => text(value)?.parse().map(Value::Double).map_err(|_| conversion_error(value, "double")),
    }
}

fn to_string<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let text = match one(args)? {
        Value::String(text) => return Ok(Value::String(text.clone())),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => double_text(*value),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|_| Error::failed("invalid UTF-8 in bytes, cannot convert to string"))?,
        Value::Timestamp(nanos) => time::format_timestamp(*nanos),
        Value::Duration(nanos) => time::format_duration(*nanos),
        value => addresses::display(value).or_else(|| quantity::display(value)).ok_or_else(Error::no_such_overload)?,
    };
    Ok(Value::string(text))
}

/// Go's `%g`: the shortest form, with an exponent for very large or small numbers.
pub(super) fn double_text(value: f64) -> String {
    if value.is_nan() || value.is_infinite() {
        return if value.is_nan() { "NaN".into() } else { format!("{}Inf", if value > 0.0 { "+" } else { "-" }) };
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>() {
        Ok(power) if !(-4..21).contains(&power) && value != 0.0 => {
            format!("{mantissa}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
        }
        _ => format!("{value}"),
    }
}

fn to_bytes<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match one(args)? {
        Value::Bytes(bytes) => Ok(Value::Bytes(bytes.clone())),
        value => Ok(Value::Bytes(Arc::from(text(value)?.as_bytes()))),
    }
}

fn to_timestamp<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match one(args)? {
        Value::Timestamp(nanos) => Ok(Value::Timestamp(*nanos)),
        Value::Int(seconds) => time::in_range(i128::from(*seconds) * i128::from(time::SECOND))
            .map(Value::Timestamp)
            .ok_or_else(|| Error::failed("timestamp overflow")),
        value => time::parse_timestamp(text(value)?)
            .map(Value::Timestamp)
            .ok_or_else(|| conversion_error(value, "google.protobuf.Timestamp")),
    }
}

fn to_duration<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    match one(args)? {
        Value::Duration(nanos) | Value::Int(nanos) => Ok(Value::Duration(*nanos)),
        value => time::parse_duration(text(value)?)
            .map(Value::Duration)
            .ok_or_else(|| conversion_error(value, "google.protobuf.Duration")),
    }
}
