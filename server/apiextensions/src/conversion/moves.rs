//! Conversion without a webhook, an extension of upstream. An annotation of a definition declares
//! the path of a field in each version.
//!
//! ```json
//! [{"v1": "spec.colour", "v2": "spec.paint.colour"}, {"v1": "spec.size", "v2": "spec.dimensions.size"}]
//! ```

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};

/// The annotation of definitions that declares moved fields.
pub const FIELD_MOVES: &str = "conversion.kube-apiserver/field-moves";

/// Fields with different paths in different versions: for each its path by version.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Moves(Vec<BTreeMap<String, Vec<String>>>);

impl Moves {
    /// Parses the text of the annotation.
    ///
    /// # Errors
    /// Returns an error if the text is malformed.
    pub fn parse(text: &str) -> Result<Self> {
        let fields: Vec<BTreeMap<String, String>> = serde_json::from_str(text).map_err(Error::Moves)?;
        let place = |(version, path): (String, String)| Ok((version, path_of(&path)?));
        let places = |field: BTreeMap<String, String>| field.into_iter().map(place).collect::<Result<_>>();
        fields.into_iter().map(places).collect::<Result<_>>().map(Moves)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the versions that the annotation names.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(BTreeMap::keys).map(String::as_str)
    }

    /// Moves the fields of an object from their paths in one version to those in another. A field
    /// without a path in the other version stays; pruning removes it.
    pub fn apply(&self, object: &mut Map<String, Value>, from: &str, to: &str) {
        let places = self.0.iter().filter_map(|field| Some((field.get(from)?, field.get(to)?)));
        let places: Vec<_> = places.filter(|(from, to)| from != to).collect();
        // All values are removed before any is inserted, because fields may swap paths.
        let taken: Vec<_> = places.iter().map(|(from, _)| take(object, from)).collect();
        for ((_, to), value) in places.into_iter().zip(taken) {
            if let Some(value) = value {
                put(object, to, value);
            }
        }
    }
}

/// Splits a path into names.
///
/// # Errors
/// Returns an error for an empty name, or for a path into type or metadata.
pub fn path_of(path: &str) -> Result<Vec<String>> {
    let names: Vec<String> = path.split('.').map(str::to_owned).collect();
    let is_own = matches!(names[0].as_str(), "apiVersion" | "kind" | "metadata");
    match is_own || names.iter().any(String::is_empty) {
        true => Err(Error::MovedPath { path: path.to_owned() }),
        false => Ok(names),
    }
}

/// Removes a value, and the objects that become empty.
pub fn take(object: &mut Map<String, Value>, path: &[String]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        return object.shift_remove(first);
    }
    let Some(Value::Object(below)) = object.get_mut(first) else { return None };
    let taken = take(below, rest)?;
    if below.is_empty() {
        object.shift_remove(first);
    }
    Some(taken)
}

/// Inserts a value, unless a non-object is on its path.
pub fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        object.insert(first.clone(), value);
    } else if let Value::Object(below) = object.entry(first.as_str()).or_insert_with(|| json!({})) {
        put(below, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(moves: &str, object: Value, from: &str, to: &str) -> Value {
        let Value::Object(mut members) = object else { return Value::Null };
        Moves::parse(moves).expect("moves").apply(&mut members, from, to);
        Value::Object(members)
    }

    #[test]
    fn moves_fields_in_both_directions() {
        for (moves, v1, v2) in [
            (
                r#"[{"v1": "spec.colour", "v2": "spec.paint.colour"}]"#,
                json!({"spec": {"size": 1, "colour": "red"}}),
                json!({"spec": {"size": 1, "paint": {"colour": "red"}}}),
            ),
            (
                r#"[{"v1": "spec.a", "v2": "spec.b"}, {"v1": "spec.b", "v2": "spec.a"}]"#,
                json!({"spec": {"a": 1, "b": [2]}}),
                json!({"spec": {"b": 1, "a": [2]}}),
            ),
            (r#"[{"v1": "size", "v2": "spec.size"}]"#, json!({"size": {}}), json!({"spec": {"size": {}}})),
            // An absent field is not created, and other versions are not changed.
            (r#"[{"v1": "spec.a", "v2": "spec.b"}]"#, json!({"spec": "text"}), json!({"spec": "text"})),
            (r#"[{"v1": "spec.a", "v3": "spec.b"}]"#, json!({"spec": {"a": 1}}), json!({"spec": {"a": 1}})),
        ] {
            assert_eq!(moved(moves, v1.clone(), "v1", "v2"), v2, "{moves}");
            assert_eq!(moved(moves, v2, "v2", "v1"), v1, "{moves}, and back");
        }
    }

    #[test]
    fn rejects_invalid_moves() {
        for (text, expect) in [
            (r#"[{"v1": "metadata.labels"}]"#, r#""metadata.labels" is no path of a field outside of metadata"#),
            (r#"[{"v1": "spec..size"}]"#, r#""spec..size" is no path"#),
            (r#"{"v1": "spec"}"#, "must be a JSON list of objects from versions to paths: "),
        ] {
            let why = Moves::parse(text).expect_err(text).to_string();
            assert!(why.starts_with(expect), "{why}");
        }
    }
}
