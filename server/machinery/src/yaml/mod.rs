//! YAML with the semantics of `sigs.k8s.io/yaml`: an encoding of JSON, with the YAML 1.1 types of
//! goyaml v2 (`yes` is true, `010` is eight, `<<` merges) and its layout (keys in natural order,
//! lists not indented).
//!
//! libyaml, which goyaml is ported from, parses and emits; so error messages and line breaks are
//! the same.

mod compose;
mod emit;
mod error;
mod resolve;
mod scan;
mod tree;

use crate::budget::Meter;
use crate::json::{Error, Issues, Value, encode_value, parse};
use crate::reflect::Ref;
pub(crate) use error::error;

/// Converts the first document of a stream to JSON (upstream `yaml.YAMLToJSON`). As in upstream's
/// `YAMLToJSONStrict`, duplicate keys become one issue; the last one counts.
///
/// # Errors
/// [`Error`] when the text is not YAML, JSON cannot represent the document, or the document exceeds
/// a limit.
pub fn to_json(document: &[u8], issues: &mut Issues) -> Result<Vec<u8>, Error> {
    let value = tree_of(document, issues)?;
    let mut out = Vec::with_capacity(document.len());
    encode_value(&value, &mut out);
    Ok(out)
}

/// The first document of a stream as a tree with the numbers of its JSON form: `1.0` is an integer,
/// and a signed integer beyond 64 bits is not.
///
/// # Errors
/// As [`to_json`].
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

/// Appends a JSON text as YAML (upstream `yaml.JSONToYAML`).
///
/// # Errors
/// As [`parse`], and when libyaml cannot write the document.
pub fn from_json(text: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    encode_value_as_yaml(&parse(text, &mut Issues::ignore())?, out)
}

/// Appends a struct as YAML.
///
/// # Errors
/// [`Error`] when libyaml cannot write the document.
pub fn encode(value: Ref<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut text = Vec::new();
    crate::json::encode(value, &mut text);
    from_json(&text, out)
}

/// Appends an object as YAML with this version and kind.
///
/// # Errors
/// [`Error`] when libyaml cannot write the document.
pub fn encode_object(api_version: &str, kind: &str, value: Ref<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut text = Vec::new();
    crate::json::encode_object(api_version, kind, value, &mut text);
    from_json(&text, out)
}

/// Appends a tree as YAML.
pub(crate) fn encode_value_as_yaml(value: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
    emit::emit(value, out)
}

#[cfg(test)]
mod tests;
