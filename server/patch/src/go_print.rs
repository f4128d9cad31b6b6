//! Go's text forms of decoded JSON, which upstream's messages contain.

use machinery::scalar::go_text::quote;
use serde_json::Value;

/// Formats as `%v`: `map[a:1 b:[x y]]`.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number_text(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => plain_list(items),
        Value::Object(map) => {
            let members: Vec<String> = sorted(map).map(|(key, value)| format!("{key}:{}", plain(value))).collect();
            format!("map[{}]", members.join(" "))
        }
    }
}

/// Formats a list as `%v`.
pub(crate) fn plain_list(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(plain).collect();
    format!("[{}]", items.join(" "))
}

/// Formats as `%#v`: `map[string]interface {}{"a":1}`.
pub(crate) fn syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".into(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(map) => {
            let members: Vec<String> =
                sorted(map).map(|(key, value)| format!("{}:{}", quote(key), syntax(value))).collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        _ => plain(value),
    }
}

/// Formats as `%T`, or `%s` of `reflect.TypeOf`.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Formats a number as `%v`.
pub(crate) fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if !number.is_i64() => float_text(float),
        _ => number.to_string(),
    }
}

/// Formats as `%g` with the fewest digits that identify the number (`strconv.FormatFloat`).
fn float_text(float: f64) -> String {
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{float}"),
    }
}

/// Returns the members of an object in key order, as Go prints maps.
pub(crate) fn sorted(map: &serde_json::Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    members.into_iter()
}
