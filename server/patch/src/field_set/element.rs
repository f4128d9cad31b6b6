//! An element of a field path: a name, the key of a list item, an item of a set, or an index.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use machinery::json;
use machinery::scalar::go_text::quote;
use serde_json::{Map, Number, Value};
use smol_str::SmolStr;

use crate::{Error, go_print};

/// The step from an object or list to a member or an item (`fieldpath.PathElement`).
///
/// The order is that of `fieldsV1`: names, then keys, then values, then indexes. Short names are stored
/// inline; long names and keys are shared, because sets are built from each other.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A field of a struct or a key of a map.
    Field(SmolStr),
    /// The list item with these values of the key fields, sorted by field name.
    Key(Arc<[(SmolStr, Value)]>),
    /// An item of a set.
    Value(Box<Value>),
    /// The item at a position.
    Index(i64),
}

impl PathElement {
    /// Returns the approximate length of its text in bytes.
    pub(crate) fn size(&self) -> usize {
        const OVERHEAD: usize = 16;
        let value = |value: &Value| value.as_str().map_or(OVERHEAD, str::len);
        OVERHEAD
            + match self {
                PathElement::Field(name) => name.len(),
                PathElement::Key(fields) => fields.iter().map(|(name, of)| name.len() + value(of)).sum(),
                PathElement::Value(of) => value(of),
                PathElement::Index(_) => 0,
            }
    }

    pub fn field(name: &str) -> Self {
        PathElement::Field(name.into())
    }

    /// Creates the element of a declared field.
    pub fn declared(name: &'static str) -> Self {
        PathElement::Field(SmolStr::new_static(name))
    }

    /// Parses the `fieldsV1` form: `f:spec`, `k:{"name":"a"}`, `v:"x"`, `i:0`. Returns `None` for an
    /// unknown type of element.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, Error> {
        if text.len() < 2 {
            return Err(Error::ShortElement);
        }
        let parts = text.split_at_checked(1).and_then(|(kind, rest)| Some((kind, rest.strip_prefix(':')?)));
        let (kind, rest) = parts.ok_or_else(|| Error::MissingColon(text.into()))?;
        Ok(Some(match kind {
            "f" => PathElement::field(rest),
            "v" => PathElement::Value(serde_json::from_str(rest).map_err(|_| Error::BadElement(text.into()))?),
            "k" => {
                let fields: Map<String, Value> =
                    serde_json::from_str(rest).map_err(|_| Error::BadElement(text.into()))?;
                let mut fields: Vec<(SmolStr, Value)> =
                    fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
                fields.sort_by(|a, b| a.0.cmp(&b.0));
                PathElement::Key(fields.into())
            }
            "i" => PathElement::Index(rest.parse().map_err(|_| Error::BadElement(text.into()))?),
            _ => return Ok(None),
        }))
    }

    /// Returns the `fieldsV1` form.
    pub(super) fn to_text(&self) -> String {
        let mut text = Vec::new();
        self.append_text(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Appends the `fieldsV1` form, which is UTF-8.
    pub(super) fn append_text(&self, out: &mut Vec<u8>) {
        match self {
            PathElement::Field(name) => {
                out.extend_from_slice(b"f:");
                out.extend_from_slice(name.as_bytes());
            }
            PathElement::Key(fields) => {
                out.extend_from_slice(b"k:{");
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    json::string(out, name);
                    out.push(b':');
                    json::encode_value(value, out);
                }
                out.push(b'}');
            }
            PathElement::Value(value) => {
                out.extend_from_slice(b"v:");
                json::encode_value(value, out);
            }
            PathElement::Index(index) => {
                out.extend_from_slice(b"i:");
                out.extend_from_slice(index.to_string().as_bytes());
            }
        }
    }

    fn rank(&self) -> u8 {
        match self {
            PathElement::Field(_) => 0,
            PathElement::Key(_) => 1,
            PathElement::Value(_) => 2,
            PathElement::Index(_) => 3,
        }
    }
}

impl fmt::Display for PathElement {
    /// Formats the element as conflicts and errors do: `.name`, `[name="a"]`, `[="x"]`, `[0]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathElement::Field(name) => write!(f, ".{name}"),
            PathElement::Key(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name}={}", readable(value))).collect();
                write!(f, "[{}]", fields.join(","))
            }
            PathElement::Value(value) => write!(f, "[={}]", readable(value)),
            PathElement::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// `value.ToString`
fn readable(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => go_print::number_text(number),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(readable).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => map.iter().map(|(key, value)| format!("{key}={}", readable(value))).collect(),
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement {}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (PathElement::Field(a), PathElement::Field(b)) => a.cmp(b),
            (PathElement::Key(a), PathElement::Key(b)) => compare_fields(a, b),
            (PathElement::Value(a), PathElement::Value(b)) => compare_values(a, b),
            (PathElement::Index(a), PathElement::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

fn compare_fields(a: &[(SmolStr, Value)], b: &[(SmolStr, Value)]) -> Ordering {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.0.cmp(&b.0).then_with(|| compare_values(&a.1, &b.1)))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// Compares values in a total order, numbers numerically (`value.Compare`).
pub(crate) fn compare_values(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => a
            .iter()
            .zip(b)
            .map(|(a, b)| compare_values(a, b))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        (Value::Object(a), Value::Object(b)) => go_print::sorted(a)
            .zip(go_print::sorted(b))
            .map(|(a, b)| a.0.cmp(b.0).then_with(|| compare_values(a.1, b.1)))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.len().cmp(&b.len())),
        _ => value_rank(a).cmp(&value_rank(b)),
    }
}

fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a.cmp(&b),
        // JSON has no NaN. Zero and negative zero are equal, as in upstream's `FloatCompare`.
        _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
    }
}

fn value_rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}
