//! Names of imported types, fields and enum values; and literals.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::known;
use crate::names::{is_keyword, rust_name};

/// Type names that the language already has.
const KNOWN: [&str; 14] = [
    "Bytes",
    "Duration",
    "FieldsV1",
    "IntOrString",
    "Json",
    "Map",
    "MicroTime",
    "ObjectMeta",
    "Option",
    "Quantity",
    "RawExtension",
    "String",
    "Time",
    "Vec",
];

/// Names of types and numbers of fields of one group. Types at one path have the same name in all
/// versions; fields of one name have the same number.
#[derive(Default)]
pub struct ImportedNames {
    types: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    numbers: BTreeMap<String, Vec<String>>,
}

impl ImportedNames {
    /// The name of the type at a path, such as `Widget.spec.parts`.
    pub fn of_type(&mut self, path: &str) -> String {
        if let Some(name) = self.types.get(path) {
            return name.clone();
        }
        let plain: String = path.split('.').map(camel).collect();
        let numbered = (2..).map(|number| format!("{plain}{number}"));
        let is_free = |name: &String| {
            !self.taken.contains(name) && ![&KNOWN[..], &known::TYPES].concat().contains(&name.as_str())
        };
        let name = std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or_default();
        self.taken.insert(name.clone());
        self.types.insert(path.to_owned(), name.clone());
        name
    }

    /// The number of a field by the hub's name.
    pub fn number(&mut self, of_type: &str, json: &str) -> usize {
        let fields = self.numbers.entry(of_type.to_owned()).or_default();
        match fields.iter().position(|field| field == json) {
            Some(index) => index + 1,
            None => {
                fields.push(json.to_owned());
                fields.len()
            }
        }
    }
}

/// The text of a JSON string; empty for other values.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Words of a text joined in CamelCase; capitals within words are kept.
pub fn camel(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words
        .flat_map(|word| {
            let (first, rest) = word.split_at(1);
            [first.to_ascii_uppercase(), rest.to_owned()]
        })
        .collect()
}

/// A Rust field name that is unique in its struct.
pub fn field(json: &str, others: &BTreeSet<String>) -> String {
    let name = rust_name(json);
    let name =
        match name.starts_with(|c: char| c.is_ascii_alphabetic()) && !["self", "super", "crate"].contains(&&*name) {
            true => name,
            false => format!("field_{name}").trim_end_matches('_').to_owned(),
        };
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !others.contains(name)).unwrap_or(name)
}

/// A name in Rust syntax.
pub fn spelled(name: &str) -> String {
    if is_keyword(name) { format!("r#{name}") } else { name.to_owned() }
}

/// Variants of an enum with these values.
pub fn variants(values: &[Value]) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    for value in values.iter().filter_map(Value::as_str) {
        let name = camel(value);
        let name = match name.starts_with(|c: char| c.is_ascii_uppercase()) && name != "Self" {
            true => name,
            false => format!("Value{name}"),
        };
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let is_free = |name: &String| out.iter().all(|(other, _)| other != name);
        let name = std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name);
        out.push((name, value.to_owned()));
    }
    out
}

/// A JSON value as a literal of the language; `None` if the language has no literal for it.
pub fn literal(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Option<Vec<_>>>()?.join(", ")),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| Some(format!("{}: {}", key(name), literal(value)?));
            match members.iter().map(member).collect::<Option<Vec<_>>>()?.as_slice() {
                [] => "{}".to_owned(),
                members => format!("{{ {} }}", members.join(", ")),
            }
        }
        other => other.to_string(),
    })
}

/// A name in a literal or an attribute: quoted unless it is an identifier.
pub fn key(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !is_keyword(name);
    if is_plain { name.to_owned() } else { format!("{name:?}") }
}
