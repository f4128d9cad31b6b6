//! JSON as text, laid out as Python's `json.dumps` does.
//!
//! The recordings were made by a program in Python. Its layout is part of them: messages of the server quote bytes of a
//! request, and lists are sorted by their text.

use serde_json::{Map, Value};

/// How JSON is written.
#[derive(Clone, Copy)]
struct Layout {
    /// Whether keys are in order of their characters.
    sorted: bool,
    /// Whether other characters than those of ASCII are escaped.
    ascii: bool,
    /// What stands between items, and between a key and its value.
    separators: (&'static str, &'static str),
}

/// The text of a request's body: keys in their order, blanks after commas and colons, escapes for what is not ASCII.
pub fn body(value: &Value) -> String {
    text(value, Layout { sorted: false, ascii: true, separators: (", ", ": ") })
}

/// The text by which lists are sorted: like [`body`], with sorted keys.
pub fn sorted(value: &Value) -> String {
    text(value, Layout { sorted: true, ascii: true, separators: (", ", ": ") })
}

/// The shortest text, with sorted keys.
pub fn compact(value: &Value) -> String {
    text(value, Layout { sorted: true, ascii: true, separators: (",", ":") })
}

/// The text of a file: sorted keys, characters as they are.
pub fn file(value: &Value) -> String {
    text(value, Layout { sorted: true, ascii: false, separators: (", ", ": ") })
}

/// A copy whose objects have their keys in order.
pub fn with_sorted_keys(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let fields = entries(object, true).into_iter();
            Value::Object(fields.map(|(key, value)| (key.clone(), with_sorted_keys(value))).collect())
        }
        Value::Array(items) => items.iter().map(with_sorted_keys).collect(),
        other => other.clone(),
    }
}

fn text(value: &Value, layout: Layout) -> String {
    let mut out = String::new();
    write(value, layout, &mut out);
    out
}

fn entries(object: &Map<String, Value>, sorted: bool) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = object.iter().collect();
    if sorted {
        entries.sort_by_key(|(key, _)| *key);
    }
    entries
}

fn write(value: &Value, layout: Layout, out: &mut String) {
    match value {
        Value::Object(object) => {
            out.push('{');
            for (at, (key, value)) in entries(object, layout.sorted).into_iter().enumerate() {
                out.push_str(if at > 0 { layout.separators.0 } else { "" });
                string(key, layout.ascii, out);
                out.push_str(layout.separators.1);
                write(value, layout, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { layout.separators.0 } else { "" });
                write(item, layout, out);
            }
            out.push(']');
        }
        Value::String(text) => string(text, layout.ascii, out),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => out.push_str(&self::float(float)),
            None => out.push_str(&number.to_string()),
        },
        other => out.push_str(&other.to_string()),
    }
}

fn string(text: &str, ascii: bool, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{20}'..='\u{7e}' => out.push(character),
            '\u{0}'..='\u{1f}' => escape(character, out),
            // Python escapes the delete character no more than a letter.
            '\u{7f}' => out.push(character),
            _ if ascii => escape(character, out),
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn escape(character: char, out: &mut String) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// A float as Python writes it: the shortest digits, with an exponent below 0.0001 and from 10 to the 16th.
fn float(float: f64) -> String {
    let text = format!("{float:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        return format!("{float:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bodies_have_blanks_and_escapes() {
        let value = json!({"b": [1, 2.0, true, null], "a": "ü😀\u{1}\n\"\\"});
        assert_eq!(body(&value), r#"{"b": [1, 2.0, true, null], "a": "\u00fc\ud83d\ude00\u0001\n\"\\"}"#);
        assert_eq!(sorted(&value), r#"{"a": "\u00fc\ud83d\ude00\u0001\n\"\\", "b": [1, 2.0, true, null]}"#);
        assert_eq!(file(&value), r#"{"a": "ü😀\u0001\n\"\\", "b": [1, 2.0, true, null]}"#);
        assert_eq!(compact(&json!({"b": [1, "x"], "a": {}})), r#"{"a":{},"b":[1,"x"]}"#);
    }

    #[test]
    fn floats_are_written_as_python_writes_them() {
        let floats = [0.5, 1.0, 1e15, 1e16, 1.5e300, 0.0001, 0.00001, -2.5];
        let texts = ["0.5", "1.0", "1000000000000000.0", "1e+16", "1.5e+300", "0.0001", "1e-05", "-2.5"];
        assert_eq!(floats.map(float), texts);
    }

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = json!({"b": [{"d": 1, "c": 2}], "a": {"f": 1, "e": 2}});
        assert_eq!(with_sorted_keys(&value).to_string(), r#"{"a":{"e":2,"f":1},"b":[{"c":2,"d":1}]}"#);
    }
}
