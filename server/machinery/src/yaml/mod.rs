//! YAML as `sigs.k8s.io/yaml` has it: a way to write JSON, with the YAML 1.1 readings of goyaml v2 (`yes` is true, `010` is eight,
//! `<<` merges) and its layout (keys in natural order, lists not indented).
//!
//! Grammar and layout come from libyaml, which goyaml is a port of as well; so errors are worded alike and lines break alike.

mod compose;
mod emit;
mod resolve;
mod scan;
mod tree;

use crate::budget::Meter;
use crate::json::{Error, Issues, Value, encode_value, parse};
use crate::reflect::Ref;

/// Turns the first document of a stream into JSON (upstream `yaml.YAMLToJSON`). Keys that are set twice become one issue, as those
/// of upstream's `YAMLToJSONStrict`; the last one counts.
pub fn to_json(document: &[u8], issues: &mut Issues) -> Result<Vec<u8>, Error> {
    let value = tree_of(document, issues)?;
    let mut out = Vec::with_capacity(document.len());
    encode_value(&value, &mut out);
    Ok(out)
}

/// The first document of a stream as a tree, its numbers as those of its JSON: `1.0` is an integer there, and an
/// integer beyond 64 bits with a sign is none.
pub fn to_value(document: &[u8], issues: &mut Issues) -> Result<Value, Error> {
    let mut value = tree_of(document, issues)?;
    numbers_as_of_json(&mut value);
    Ok(value)
}

fn numbers_as_of_json(value: &mut Value) {
    match value {
        Value::Number(number) if !number.is_i64() => {
            let mut text = Vec::new();
            encode_value(value, &mut text);
            *value = parse(&text, &mut Issues::only_limit()).unwrap_or_default();
        }
        Value::Array(items) => items.iter_mut().for_each(numbers_as_of_json),
        Value::Object(members) => members.values_mut().for_each(numbers_as_of_json),
        _ => {}
    }
}

fn tree_of(document: &[u8], issues: &mut Issues) -> Result<Value, Error> {
    let mut meter = Meter::of_document(document.len());
    let nodes = compose::compose(document, &mut meter)?;
    let (value, repeated) = tree::value(&nodes, issues.is_collecting(), &mut meter)?;
    if !repeated.is_empty() {
        let text = error(format_args!("unmarshal errors:\n  {}", repeated.join("\n  ")));
        issues.add(crate::json::Issue::Text(text.to_string().into()));
    }
    Ok(value)
}

/// Appends the YAML of a JSON text (upstream `yaml.JSONToYAML`).
pub fn from_json(text: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    encode_value_as_yaml(&parse(text, &mut Issues::ignore())?, out)
}

/// Appends the YAML of a struct.
pub fn encode(value: Ref<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut text = Vec::new();
    crate::json::encode(value, &mut text);
    from_json(&text, out)
}

/// Appends the YAML of an object with this version and kind.
pub fn encode_object(api_version: &str, kind: &str, value: Ref<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut text = Vec::new();
    crate::json::encode_object(api_version, kind, value, &mut text);
    from_json(&text, out)
}

/// Appends the YAML of a tree.
pub fn encode_value_as_yaml(value: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
    emit::emit(value, out)
}

/// goyaml's prefix of every message.
pub(crate) fn error(text: std::fmt::Arguments<'_>) -> Error {
    Error::Yaml(format!("yaml: {text}").into())
}

#[cfg(test)]
mod tests;
