//! `string.format(list)`

use super::conversion::double_text;
use super::{Function, list, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::time;
use crate::value::{MapValue, Value};

/// Maximum length of the result, in bytes: at 0.1 per character this is the whole cost limit of a call.
const MAX_TEXT: usize = 10_000_000;

/// Maximum number of nonzero digits after the decimal point of a double.
const EXACT_DIGITS: usize = 1_100;

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("format", &["string.(list<dyn>) -> string"], format, Cost::Scan(0))];

fn format<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    let (mut rest, values) = (text(&args[0])?, list(&args[1])?);
    let (mut out, mut next) = (String::new(), 0);
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let end = rest
            .find(|c: char| c != '.' && !c.is_ascii_digit())
            .ok_or_else(|| Error::failed("unexpected end of string"))?;
        let precision = precision(&rest[..end])?;
        let clause = rest[end..].chars().next().unwrap_or(' ');
        rest = &rest[end + clause.len_utf8()..];
        let value = values.get(next).ok_or_else(|| Error::failed(format!("index {next} out of range")))?;
        let room = MAX_TEXT.checked_sub(out.len()).ok_or(Error::CostLimitExceeded)?;
        out.push_str(&clause_text(clause, precision, &value, room)?);
        next += 1;
    }
    out.push_str(rest);
    Ok(Value::string(out))
}

/// The number of digits after the decimal point; `None` if the clause does not specify it.
fn precision(text: &str) -> Result<Option<usize>, Error> {
    let Some(digits) = text.strip_prefix('.') else { return Ok(None) };
    match digits.parse() {
        Ok(digits) if digits <= MAX_TEXT => Ok(Some(digits)),
        Ok(_) => Err(Error::CostLimitExceeded),
        Err(_) => Ok(None),
    }
}

/// Formats a number with more digits after the decimal point than the standard library writes: beyond
/// [`EXACT_DIGITS`] all digits are zeros.
fn padded(digits: usize, write: impl Fn(usize) -> String) -> String {
    let text = write(digits.min(EXACT_DIGITS));
    let zeros = digits.saturating_sub(EXACT_DIGITS);
    if zeros == 0 || !text.contains('.') {
        return text;
    }
    let at = text.find('e').unwrap_or(text.len());
    format!("{}{}{}", &text[..at], "0".repeat(zeros), &text[at..])
}

fn clause_text(clause: char, precision: Option<usize>, value: &Value<'_>, room: usize) -> Result<String, Error> {
    let refuse = |what: &str| {
        let of = value.type_of();
        Err(Error::failed(format!("error during formatting: {what}, was given {}", of.base_name())))
    };
    let digits = precision.unwrap_or(6);
    match (clause, value) {
        ('s', value) => {
            let mut out = String::new();
            plain(value, &mut out, room)?;
            Ok(out)
        }
        ('d', Value::Int(n)) => Ok(n.to_string()),
        ('d', Value::Uint(n)) => Ok(n.to_string()),
        ('d', _) => refuse("decimal clause can only be used on integers"),
        ('f', Value::Double(n)) => Ok(fixed(*n, digits)),
        ('f', Value::Int(n)) => Ok(fixed(*n as f64, digits)),
        ('f', _) => refuse("fixed-point clause can only be used on doubles"),
        ('e', Value::Double(n)) => Ok(scientific(*n, digits)),
        ('e', Value::Int(n)) => Ok(scientific(*n as f64, digits)),
        ('e', _) => refuse("scientific clause can only be used on doubles"),
        ('b', Value::Int(n)) => Ok(signed(*n, |n| format!("{n:b}"))),
        ('b', Value::Uint(n)) => Ok(format!("{n:b}")),
        ('b', Value::Bool(b)) => Ok(u8::from(*b).to_string()),
        ('b', _) => refuse("only integers and bools can be formatted as binary"),
        ('o', Value::Int(n)) => Ok(signed(*n, |n| format!("{n:o}"))),
        ('o', Value::Uint(n)) => Ok(format!("{n:o}")),
        ('o', _) => refuse("octal clause can only be used on integers"),
        ('x', value) => hexadecimal(value)
            .map_or_else(|| refuse("only integers, byte buffers, and strings can be formatted as hex"), Ok),
        ('X', value) => hexadecimal(value).map_or_else(
            || refuse("only integers, byte buffers, and strings can be formatted as hex"),
            |text| Ok(text.to_uppercase()),
        ),
        _ => Err(Error::failed(format!(
            "could not parse formatting clause: unrecognized formatting clause \"{clause}\""
        ))),
    }
}

fn signed(value: i64, digits: impl Fn(u64) -> String) -> String {
    format!("{}{}", if value < 0 { "-" } else { "" }, digits(value.unsigned_abs()))
}

fn fixed(value: f64, digits: usize) -> String {
    padded(digits, |digits| format!("{value:.digits$}"))
}

fn scientific(value: f64, digits: usize) -> String {
    let text = padded(digits, |digits| format!("{value:.digits$e}"));
    match text.split_once('e') {
        Some((mantissa, power)) => {
            let power: i32 = power.parse().unwrap_or_default();
            format!("{mantissa}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
        }
        None => text,
    }
}

fn hexadecimal(value: &Value<'_>) -> Option<String> {
    let of_bytes = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect();
    match value {
        Value::Int(n) => Some(signed(*n, |n| format!("{n:x}"))),
        Value::Uint(n) => Some(format!("{n:x}")),
        Value::String(text) => Some(of_bytes(text.as_bytes())),
        Value::Bytes(bytes) => Some(of_bytes(bytes)),
        _ => None,
    }
}

/// Appends the `%s` form of a value, up to `room` bytes.
fn plain(value: &Value<'_>, out: &mut String, room: usize) -> Result<(), Error> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => out.push_str(&value.to_string()),
        Value::Uint(value) => out.push_str(&value.to_string()),
        Value::Double(value) => out.push_str(&double_text(*value)),
        Value::String(text) => out.push_str(text),
        Value::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        Value::Timestamp(nanos) => out.push_str(&time::format_timestamp(*nanos)),
        Value::Duration(nanos) => out.push_str(&time::format_duration(*nanos)),
        Value::List(list) => {
            out.push('[');
            for (index, item) in list.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                plain(&item, out, room)?;
            }
            out.push(']');
        }
        Value::Map(map) => plain_map(map, out, room)?,
        Value::Type(of) => out.push_str(of.base_name()),
        Value::Optional(_) | Value::Opaque(_) => out.push_str(value.type_of().base_name()),
    }
    if out.len() > room { Err(Error::CostLimitExceeded) } else { Ok(()) }
}

fn plain_map(map: &MapValue<'_>, out: &mut String, room: usize) -> Result<(), Error> {
    let (mut entries, mut left) = (Vec::with_capacity(map.len()), room.saturating_sub(out.len()));
    for (key, value) in map.entries() {
        let mut entry = String::new();
        plain(&key, &mut entry, left)?;
        entry.push_str(": ");
        plain(&value, &mut entry, left)?;
        left = left.checked_sub(entry.len()).ok_or(Error::CostLimitExceeded)?;
        entries.push(entry);
    }
    entries.sort();
    out.push('{');
    out.push_str(&entries.join(", "));
    out.push('}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(format_text: &str, values: Vec<Value<'static>>) -> Result<String, Error> {
        let made = format(&[Value::string(format_text), Value::list(values)])?;
        Ok(made.as_str().unwrap_or_default().to_owned())
    }

    #[test]
    fn writes_any_number_of_digits() {
        let one = || vec![Value::Double(1.5)];
        let text = formatted("%.70000f", one()).unwrap();
        assert_eq!((text.len(), &text[..5]), (70_002, "1.500"));
        let text = formatted("%.70000e", one()).unwrap();
        assert_eq!((text.len(), &text[70_000..]), (70_006, "00e+00"));
        assert_eq!(formatted("%.2f", one()).unwrap(), "1.50");
        assert_eq!(formatted("%.999999999f", one()), Err(Error::CostLimitExceeded));
        assert_eq!(formatted("%.70000f", vec![Value::Double(f64::NAN)]).unwrap(), "NaN");
    }

    #[test]
    fn rejects_overlong_result() {
        let long = Value::string("x".repeat(1 << 20));
        let long = Value::list(vec![long; 20]);
        assert_eq!(formatted("%s", vec![long]), Err(Error::CostLimitExceeded));
    }
}
