//! `string.format(list)`

use super::conversion::double_text;
use super::{Function, list, text};
use crate::cost::Cost;
use crate::error::EvalError;
use crate::time;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("format", &["string.(list<dyn>) -> string"], format, Cost::Scan(0))];

fn format<'a>(args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
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
            .ok_or_else(|| EvalError::new("unexpected end of string"))?;
        let precision = rest[..end].strip_prefix('.').and_then(|digits| digits.parse::<usize>().ok());
        let clause = rest[end..].chars().next().unwrap_or(' ');
        rest = &rest[end + clause.len_utf8()..];
        let value = values.get(next).ok_or_else(|| EvalError::new(format!("index {next} out of range")))?;
        out.push_str(&clause_text(clause, precision, &value)?);
        next += 1;
    }
    out.push_str(rest);
    Ok(Value::string(out))
}

fn clause_text(clause: char, precision: Option<usize>, value: &Value<'_>) -> Result<String, EvalError> {
    let refuse = |what: &str| {
        let of = value.type_of();
        Err(EvalError::new(format!("error during formatting: {what}, was given {}", of.base_name())))
    };
    let digits = precision.unwrap_or(6);
    match (clause, value) {
        ('s', value) => Ok(plain(value)),
        ('d', Value::Int(n)) => Ok(n.to_string()),
        ('d', Value::Uint(n)) => Ok(n.to_string()),
        ('d', _) => refuse("decimal clause can only be used on integers"),
        ('f', Value::Double(n)) => Ok(format!("{n:.digits$}")),
        ('f', Value::Int(n)) => Ok(format!("{:.digits$}", *n as f64)),
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
        _ => Err(EvalError::new(format!(
            "could not parse formatting clause: unrecognized formatting clause \"{clause}\""
        ))),
    }
}

fn signed(value: i64, digits: impl Fn(u64) -> String) -> String {
    format!("{}{}", if value < 0 { "-" } else { "" }, digits(value.unsigned_abs()))
}

fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
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

/// What `%s` makes of a value.
fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => double_text(*value),
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Timestamp(nanos) => time::format_timestamp(*nanos),
        Value::Duration(nanos) => time::format_duration(*nanos),
        Value::List(list) => format!("[{}]", list.iter().map(|item| plain(&item)).collect::<Vec<_>>().join(", ")),
        Value::Map(map) => {
            let mut entries: Vec<String> =
                map.entries().iter().map(|(key, value)| format!("{}: {}", plain(key), plain(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Type(of) => of.base_name().to_owned(),
        Value::Optional(_) | Value::Opaque(_) => value.type_of().base_name().to_owned(),
    }
}
