//! Parts of timestamps and durations. Time zones are offsets such as `+02:00`; zone names are not
//! supported.

use super::{Function, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::time::{Civil, SECOND, civil, parse_offset};
use crate::value::Value;

type Outcome<'a> = Result<Value<'a>, Error>;

const OF_TIME: &[&str] = &["timestamp.() -> int", "timestamp.(string) -> int"];
const OF_BOTH: &[&str] = &["timestamp.() -> int", "timestamp.(string) -> int", "duration.() -> int"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("getFullYear", OF_TIME, |a| part(a, |c| c.year, 0), Cost::Fixed(1)),
    Function::new("getMonth", OF_TIME, |a| part(a, |c| c.month - 1, 0), Cost::Fixed(1)),
    Function::new("getDate", OF_TIME, |a| part(a, |c| c.day, 0), Cost::Fixed(1)),
    Function::new("getDayOfMonth", OF_TIME, |a| part(a, |c| c.day - 1, 0), Cost::Fixed(1)),
    Function::new("getDayOfWeek", OF_TIME, |a| part(a, |c| c.weekday, 0), Cost::Fixed(1)),
    Function::new("getDayOfYear", OF_TIME, |a| part(a, |c| c.yearday, 0), Cost::Fixed(1)),
    Function::new("getHours", OF_BOTH, |a| part(a, |c| c.seconds / 3600, 3600 * SECOND), Cost::Fixed(1)),
    Function::new("getMinutes", OF_BOTH, |a| part(a, |c| c.seconds / 60 % 60, 60 * SECOND), Cost::Fixed(1)),
    Function::new("getSeconds", OF_BOTH, |a| part(a, |c| c.seconds % 60, SECOND), Cost::Fixed(1)),
    Function::new("getMilliseconds", OF_BOTH, |a| part(a, |c| c.nanos / 1_000_000, SECOND / 1000), Cost::Fixed(1)),
];

/// A part of a timestamp; of a duration, the number of units in it.
fn part<'a>(args: &[Value<'a>], of: fn(Civil) -> i64, unit: i64) -> Outcome<'a> {
    match &args[0] {
        Value::Timestamp(nanos) => Ok(Value::Int(of(civil(*nanos, args.get(1).map_or(Ok(0), offset)?)))),
        Value::Duration(nanos) if unit > 0 => Ok(Value::Int(nanos / unit)),
        _ => Err(Error::no_such_overload()),
    }
}

fn offset(zone: &Value<'_>) -> Result<i64, Error> {
    match text(zone)? {
        "UTC" | "" => Ok(0),
        zone => parse_offset(zone).ok_or_else(|| Error::failed(format!("unknown time zone {zone}"))),
    }
}
