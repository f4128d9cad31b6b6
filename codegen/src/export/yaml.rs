//! Writes a JSON tree as block-style YAML. Strings that YAML could read as another type are
//! double-quoted with JSON escapes.

use serde_json::Value;

/// The YAML of a tree.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(members) if !members.is_empty() => block(value, 0, &mut out),
        Value::Array(items) if !items.is_empty() => block(value, 0, &mut out),
        _ => inline(value, &mut out),
    }
    out
}

/// A non-empty object or array, each line indented by `indent`.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                pad(indent, out);
                out.push_str(&text(key));
                out.push(':');
                below(value, indent, out);
            }
        }
        Value::Array(items) => {
            for item in items {
                pad(indent, out);
                out.push('-');
                entry(item, indent, out);
            }
        }
        scalar => inline(scalar, out),
    }
}

/// The value after `key:`.
fn below(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('\n');
            block(value, indent + 2, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            block(value, indent, out);
        }
        _ => inline(value, out),
    }
}

/// The value after `-`; the first member of an object is on the line of the dash.
fn entry(item: &Value, indent: usize, out: &mut String) {
    match item {
        Value::Object(members) if !members.is_empty() => {
            let mut nested = String::new();
            block(item, indent + 2, &mut nested);
            out.push(' ');
            out.push_str(nested.trim_start());
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            block(item, indent + 2, out);
        }
        _ => inline(item, out),
    }
}

fn inline(value: &Value, out: &mut String) {
    out.push(' ');
    match value {
        Value::String(value) => out.push_str(&text(value)),
        other => out.push_str(&other.to_string()),
    }
    out.push('\n');
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A string, unquoted if it cannot be read as another type.
fn text(value: &str) -> String {
    const WORDS: [&str; 12] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", ".nan", ".inf", "e"];
    let first = value.trim_start_matches('.').starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let last = value.chars().last().is_some_and(|c| c.is_ascii_alphanumeric() || c == '.');
    let middle = value.chars().all(|c| c.is_ascii_alphanumeric() || " ./_-".contains(c));
    if first && last && middle && !WORDS.contains(&value.to_ascii_lowercase().as_str()) {
        value.to_string()
    } else {
        Value::from(value).to_string()
    }
}
