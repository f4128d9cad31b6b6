//! Conversion by expressions, an extension of upstream. An annotation of a definition declares how
//! fields of one version are computed from another.
//!
//! ```json
//! [
//!   {"from": "v1", "to": "v2", "fields": {"spec.size": "string(self.spec.width) + 'x' + string(self.spec.height)"}},
//!   {"from": "v2", "to": "v1", "fields": {
//!     "spec.width": "int(self.spec.size.split('x')[0])",
//!     "spec.height": "int(self.spec.size.split('x')[1])"
//!   }}
//! ]
//! ```
//!
//! `self` is the object in the version `from`, without its metadata. Its type is that of the
//! version's schema. The total cost of the expressions on one object has the same limit as
//! validation rules of an object.

use std::collections::{BTreeMap, HashSet};

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use cel::{CostBudget, Environment, Program, Type};
use serde::Deserialize;
use serde_json::Value;

use super::moves::path_of;
use crate::error::{Error, Result};
use crate::rules::{SELF_TYPE, type_of};

/// The annotation of definitions with conversion expressions.
pub const EXPRESSIONS: &str = "conversion.kube-apiserver/expressions";

/// The compiled conversion expressions of a definition.
#[derive(Default)]
pub struct Expressions(Vec<Direction>);

/// The expressions that convert one version to another.
struct Direction {
    from: String,
    to: String,
    /// The type of the source object.
    of: Type,
    fields: Vec<Field>,
}

struct Field {
    path: Vec<String>,
    program: Program,
}

/// The JSON form of a direction in the annotation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    from: String,
    to: String,
    fields: BTreeMap<String, String>,
}

impl Expressions {
    /// Compiles the text of the annotation.
    ///
    /// # Errors
    /// Returns an error if the text is malformed, or an expression is invalid.
    pub fn compile(text: &str, definition: &CustomResourceDefinition) -> Result<Self> {
        let all: Vec<Declaration> = serde_json::from_str(text).map_err(Error::Expressions)?;
        let mut directions: Vec<Direction> = Vec::new();
        let mut known = HashSet::new();
        for declaration in all {
            if !known.insert((declaration.from.clone(), declaration.to.clone())) {
                return Err(Error::Twice { from: declaration.from, to: declaration.to });
            }
            directions.push(Direction::compile(declaration, definition)?);
        }
        Ok(Expressions(directions))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Computes the fields for another version of an object, sorted by path.
    ///
    /// # Errors
    /// Returns an error if an expression fails.
    pub fn evaluate(&self, object: &Value, from: &str, to: &str) -> Result<Vec<(&[String], Value)>> {
        let Some(direction) = self.0.iter().find(|direction| direction.from == from && direction.to == to) else {
            return Ok(Vec::new());
        };
        let mut budget = CostBudget::default();
        let variables = [("self", cel::Value::json(object, &direction.of))];
        let mut made = Vec::with_capacity(direction.fields.len());
        for Field { path, program } in &direction.fields {
            let value = program.evaluate(&variables, &mut budget).and_then(|value| value.to_json());
            let value = value.map_err(|source| Error::Evaluate { path: path.join("."), source })?;
            made.push((path.as_slice(), value));
        }
        Ok(made)
    }
}

impl Direction {
    fn compile(declaration: Declaration, definition: &CustomResourceDefinition) -> Result<Self> {
        let Declaration { from, to, fields } = declaration;
        if from == to {
            return Err(Error::SameVersion { version: from });
        }
        let find = |name: &String| definition.spec.versions.iter().find(|version| version.name == *name);
        let unknown = |name: &String| Error::UnknownVersion { version: name.clone() };
        find(&to).ok_or_else(|| unknown(&to))?;
        let version = find(&from).ok_or_else(|| unknown(&from))?;
        let props = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_deref());
        let of = props.and_then(|props| type_of(props, false, SELF_TYPE)).unwrap_or(Type::Dyn);
        let environment = Environment::new([("self", of.clone())]).with_bindings();
        let field = |(path, expression): (String, String)| {
            let program = cel::compile(&expression, &environment).map_err(|source| {
                let (from, to) = (from.clone(), to.clone());
                Error::Compile { path: path.clone(), from, to, source }
            });
            Ok(Field { program: program?, path: path_of(&path)? })
        };
        let fields = fields.into_iter().map(field).collect::<Result<_>>()?;
        Ok(Direction { of, fields, from, to })
    }
}

#[cfg(test)]
mod tests {
    use machinery::json::{self, Issues};
    use machinery::reflect::Mut;
    use serde_json::json;

    use super::*;

    fn definition() -> CustomResourceDefinition {
        let version = |name: &str, spec: Value| {
            let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}});
            json!({"name": name, "schema": {"openAPIV3Schema": schema}})
        };
        let integer = json!({"type": "integer"});
        let tags = json!({"type": "array", "items": {"type": "string"}});
        let labels = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let document = json!({"spec": {"versions": [
            version("v1", json!({"width": integer, "height": integer, "tags": tags})),
            version("v2", json!({"size": {"type": "string", "maxLength": 20}, "tags": labels})),
        ]}});
        let mut definition = CustomResourceDefinition::default();
        json::from_value(&document, Mut::of(&mut definition), &mut Issues::ignore()).expect("a definition");
        definition
    }

    fn made(text: &Value, object: &Value, from: &str, to: &str) -> Result<Value> {
        let expressions = Expressions::compile(&text.to_string(), &definition())?;
        let made = expressions.evaluate(object, from, to)?;
        Ok(made.into_iter().map(|(path, value)| (path.join("."), value)).collect())
    }

    #[test]
    fn computes_fields_from_another_version() {
        let text = json!([
            {"from": "v1", "to": "v2", "fields": {
                "spec.size": "string(self.spec.width) + 'x' + string(self.spec.height)",
                "spec.tags": "self.spec.?tags.optMap(tags, tags.transformMapEntry(i, t, {t: string(i)}))",
            }},
            {"from": "v2", "to": "v1", "fields": {
                "spec.height": "int(self.spec.size.split('x')[1])",
                "spec.width": "cel.bind(parts, self.spec.size.split('x'), int(parts[0]))",
            }},
        ]);
        let (v1, v2) = (json!({"spec": {"width": 3, "height": 4}}), json!({"spec": {"size": "3x4"}}));
        for (object, from, to, expect) in [
            (&v1, "v1", "v2", Ok(json!({"spec.size": "3x4", "spec.tags": null}))),
            (
                &json!({"spec": {"width": 3, "height": 4, "tags": ["a", "b"]}}),
                "v1",
                "v2",
                Ok(json!({"spec.size": "3x4", "spec.tags": {"a": "0", "b": "1"}})),
            ),
            (&v2, "v2", "v1", Ok(json!({"spec.height": 4, "spec.width": 3}))),
            (&v2, "v2", "v3", Ok(json!({}))),
            (&json!({"spec": {}}), "v2", "v1", Err("spec.height: no such key: size")),
            (&json!({"spec": {"size": "3"}}), "v2", "v1", Err("spec.height: index out of bounds: 1")),
        ] {
            let got = made(&text, object, from, to).map_err(|error| error.to_string());
            assert_eq!(got, expect.map_err(str::to_owned), "{object}");
        }
    }

    #[test]
    fn rejects_invalid_expressions() {
        let of = |from: &str, to: &str, path: &str, expression: &str| json!([{"from": from, "to": to, "fields": {path: expression}}]);
        for (text, expect) in [
            (json!({}), "must be a JSON list of objects with from, to and fields: "),
            (json!([{"from": "v1", "to": "v2"}]), "must be a JSON list of objects with from, to and fields: "),
            (of("v1", "v3", "spec.size", "'1'"), "there is no version v3"),
            (of("v1", "v1", "spec.size", "'1'"), "from and to are both v1"),
            (of("v1", "v2", "metadata.labels", "{}"), "\"metadata.labels\" is no path of a field outside of metadata"),
            (
                of("v1", "v2", "spec.size", "self.spec.depth"),
                "\"spec.size\" from v1 to v2: ERROR: <input>:1:10: undefined field 'depth'",
            ),
            (
                of("v1", "v2", "spec.size", "self.metadata.name"),
                "\"spec.size\" from v1 to v2: ERROR: <input>:1:5: undefined field 'metadata'",
            ),
        ] {
            let why = Expressions::compile(&text.to_string(), &definition()).err().expect("an error").to_string();
            assert!(why.starts_with(expect), "{text}: {why}");
        }
    }
}
