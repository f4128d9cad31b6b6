//! Converts structural schemas to types. Keywords that the language cannot express are ignored here;
//! the comparison of the exported definition with the document reports them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::document::{Crd, CrdVersion};
use super::known::KnownTypes;
use super::names::{self, ImportedNames, literal, text};
use super::types::{ImportedBody, ImportedField, ImportedType};
use crate::export::schema::{DURATION, QUANTITY, immutable_rule};

/// The pattern that an exported definition has for `format = uuid`.
const UUID: &str = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$";

/// Properties that every kind implies.
const IMPLIED: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The types of a version: the kind first, then in the order in which fields refer to them. Types of
/// `crate::meta` among them are added to `used`.
pub fn types(
    crd: &Crd,
    version: &CrdVersion,
    hub: &str,
    known: &KnownTypes,
    names: &mut ImportedNames,
    used: &mut BTreeSet<String>,
) -> Vec<ImportedType> {
    let moves = crd.moves.iter().filter_map(|paths| Some((paths.get(&version.name)?.clone(), paths.get(hub)?.clone())));
    let schema = &version.entry["schema"]["openAPIV3Schema"];
    let scale = &version.entry["subresources"]["scale"];
    let small = ["specReplicasPath", "statusReplicasPath"].map(|key| text(&scale[key]).trim_start_matches('.').into());
    let mut reader = Reader { known, names, used, moves: moves.collect(), small, out: Vec::new() };
    reader.structure(Place { hub: crd.kind.clone(), here: String::new() }, schema);
    reader.out
}

struct Reader<'n> {
    known: &'n KnownTypes,
    names: &'n mut ImportedNames,
    /// Known types that were found.
    used: &'n mut BTreeSet<String>,
    /// Paths of this version, with the hub's path of the same field.
    moves: BTreeMap<String, String>,
    /// Paths of numbers of a Scale, which are 32-bit.
    small: [String; 2],
    out: Vec<ImportedType>,
}

/// The place of a schema.
#[derive(Clone)]
struct Place {
    /// The kind and the hub's names of fields, joined by dots.
    hub: String,
    /// This version's names of fields.
    here: String,
}

impl Place {
    fn below(&self, hub: &str, here: &str) -> Place {
        let below = if self.here.is_empty() { here.to_owned() } else { format!("{}.{here}", self.here) };
        Place { hub: format!("{}.{hub}", self.hub), here: below }
    }

    /// The place of the items or values of a list or map, which no path of a field reaches.
    fn inside(&self, word: &str) -> Place {
        Place { hub: format!("{}.{word}", self.hub), here: format!("{}[]", self.here) }
    }
}

impl Reader<'_> {
    /// Adds the struct of an object, and returns its name.
    fn structure(&mut self, place: Place, schema: &Value) -> String {
        let is_kind = place.here.is_empty();
        if let Some(known) = self.known.name(schema).filter(|_| !is_kind) {
            self.used.insert(known.to_owned());
            return known.to_owned();
        }
        let name = self.names.of_type(&place.hub);
        let index = self.out.len();
        let docs = text(&schema["description"]).to_owned();
        let body = ImportedBody::Struct(Vec::new());
        self.out.push(ImportedType { name: name.clone(), docs, attributes: Vec::new(), body });
        let mut fields = Vec::new();
        let mut rules: Vec<&Value> = schema["x-kubernetes-validations"].as_array().into_iter().flatten().collect();
        if is_kind {
            fields.push(metadata(self.names.number(&name, "metadata")));
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        for (json, property) in properties.filter(|(json, _)| !is_kind || !IMPLIED.contains(&json.as_str())) {
            let others: BTreeSet<String> = fields.iter().map(|field: &ImportedField| field.name.clone()).collect();
            let mut field = self.field(&name, &place, json, property, is_required(schema, json), &others);
            let fixed = immutable_rule(json);
            let before = rules.len();
            rules.retain(|rule| **rule != fixed);
            if rules.len() < before {
                field.words.push("immutable".to_owned());
            }
            fields.push(field);
        }
        let attributes = &mut self.out[index].attributes;
        if schema["x-kubernetes-map-type"] == "atomic" {
            attributes.push("#[structure(atomic)]".to_owned());
        }
        attributes.extend(rules.into_iter().map(rule));
        self.out[index].body = ImportedBody::Struct(fields);
        name
    }

    fn field(
        &mut self,
        of_type: &str,
        around: &Place,
        json: &str,
        schema: &Value,
        required: bool,
        others: &BTreeSet<String>,
    ) -> ImportedField {
        let plain = around.below(json, json);
        let moved = self.moves.get(&plain.here).and_then(|hub| sibling(&around.hub, hub));
        let hub = moved.unwrap_or_else(|| json.to_owned());
        let place = around.below(&hub, json);
        let ty = self.ty(&place, schema);
        let name = names::field(json, others);
        let mut words = Vec::new();
        if crate::names::json_name(&name) != json {
            words.push(format!("json = {json:?}"));
        }
        let is_something = is_something(schema, &ty);
        // A required list has to be non-empty in the language, so a list that may be empty is not
        // required.
        if required && (is_something || !is_list(&ty)) {
            words.push("required".to_owned());
        }
        words.extend(self::words(schema, &ty));
        let is_plain = is_list(&ty) || (required && is_something);
        let ty = if is_plain { ty } else { format!("Option<{ty}>") };
        let docs = text(&schema["description"]).to_owned();
        let number = self.names.number(of_type, &hub);
        ImportedField { json: json.to_owned(), hub, name: names::spelled(&name), docs, number, words, ty }
    }

    fn ty(&mut self, place: &Place, schema: &Value) -> String {
        let has = |key: &str| schema[key] == true;
        let pattern = text(&schema["pattern"]);
        match text(&schema["type"]) {
            _ if has("x-kubernetes-int-or-string") && pattern == QUANTITY => "Quantity".to_owned(),
            _ if has("x-kubernetes-int-or-string") => "IntOrString".to_owned(),
            _ if has("x-kubernetes-embedded-resource") => "RawExtension".to_owned(),
            "string" if schema["enum"].is_array() => self.values(place, schema),
            "string" if pattern == DURATION => "Duration".to_owned(),
            "string" if schema["format"] == "byte" => "Bytes".to_owned(),
            "string" if schema["format"] == "date-time" => "Time".to_owned(),
            "string" => "String".to_owned(),
            "boolean" => "bool".to_owned(),
            "integer" if schema["format"] == "int32" || self.small.contains(&place.here) => "i32".to_owned(),
            "integer" => "i64".to_owned(),
            "number" => "f64".to_owned(),
            "array" => format!("Vec<{}>", self.part(&place.inside("item"), &schema["items"])),
            "object" if schema["properties"].is_object() => self.structure(place.clone(), schema),
            "object" if schema["additionalProperties"].is_object() => {
                let values = self.part(&place.inside("value"), &schema["additionalProperties"]);
                format!("Map<String, {values}>")
            }
            "object" if has("x-kubernetes-preserve-unknown-fields") => "RawExtension".to_owned(),
            "object" if schema["additionalProperties"] == true => "Map<String, Json>".to_owned(),
            "object" => self.structure(place.clone(), schema),
            _ => "Json".to_owned(),
        }
    }

    /// The item or value type of a list or map, which is not a list or map itself.
    fn part(&mut self, place: &Place, schema: &Value) -> String {
        let is_map = schema["additionalProperties"].is_object() && !schema["properties"].is_object();
        match schema["type"] == "array" || is_map {
            true => "Json".to_owned(),
            false => self.ty(place, schema),
        }
    }

    /// Adds the enum of a string schema, and returns its name.
    fn values(&mut self, place: &Place, schema: &Value) -> String {
        let name = self.names.of_type(&place.hub);
        let variants = names::variants(schema["enum"].as_array().map_or(&[], Vec::as_slice));
        let docs = text(&schema["description"]).to_owned();
        self.out.push(ImportedType {
            name: name.clone(),
            docs,
            attributes: Vec::new(),
            body: ImportedBody::Enum(variants),
        });
        name
    }
}

/// The last name of a hub path, if it is directly below the object at `around`.
fn sibling(around: &str, hub: &str) -> Option<String> {
    let fields = around.split_once('.').map_or("", |(_, fields)| fields);
    let rest = if fields.is_empty() { hub } else { hub.strip_prefix(fields)?.strip_prefix('.')? };
    (!rest.contains('.')).then(|| rest.to_owned())
}

fn metadata(number: usize) -> ImportedField {
    let name = || "metadata".to_owned();
    let docs = "Standard object metadata.".to_owned();
    ImportedField {
        json: name(),
        hub: name(),
        name: name(),
        docs,
        number,
        words: Vec::new(),
        ty: "ObjectMeta".to_owned(),
    }
}

fn is_required(schema: &Value, json: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == json))
}

fn is_list(ty: &str) -> bool {
    ty.starts_with("Vec<") || ty.starts_with("Map<")
}

/// Whether a required field is never empty, or its type distinguishes absent from empty.
fn is_something(schema: &Value, ty: &str) -> bool {
    let key = match ty {
        "String" | "Bytes" => "minLength",
        _ if ty.starts_with("Vec<") => "minItems",
        _ if ty.starts_with("Map<") => "minProperties",
        _ => return true,
    };
    schema[key].as_u64().is_some_and(|least| least > 0)
}

/// Words of a field: merging, default, constraints.
fn words(schema: &Value, ty: &str) -> Vec<String> {
    let mut out = Vec::new();
    let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
    let keys: Vec<String> = keys.filter_map(Value::as_str).map(names::key).collect();
    match text(&schema["x-kubernetes-list-type"]) {
        "map" => out.push(format!("list = map({})", keys.join(", "))),
        kind @ ("atomic" | "set") => out.push(format!("list = {kind}")),
        _ => {}
    }
    match (text(&schema["x-kubernetes-map-type"]), ty) {
        (kind @ ("atomic" | "granular"), _) if ty.starts_with("Map<") => out.push(format!("map = {kind}")),
        ("granular", _) if schema["properties"].is_object() => out.push("structure = granular".to_owned()),
        _ => {}
    }
    out.extend(literal(&schema["default"]).map(|value| format!("default = {value}")));
    let counts = if ty.starts_with("Vec<") { ["minItems", "maxItems"] } else { ["minProperties", "maxProperties"] };
    if is_list(ty) {
        let limits = ["min_items", "max_items"].into_iter().zip(counts);
        out.extend(limits.filter_map(|(word, key)| Some(format!("{word} = {}", schema[key].as_u64()?))));
    }
    out.extend(scalar(schema, ty));
    out
}

/// Constraints of a scalar.
fn scalar(schema: &Value, ty: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut number = |word: &str, key: &str| out.extend(whole(&schema[key]).map(|value| format!("{word} = {value}")));
    if ["i32", "i64", "f64"].contains(&ty) {
        number("min", "minimum");
        number("max", "maximum");
    }
    if ["String", "Bytes", "IntOrString"].contains(&ty) {
        number("min_length", "minLength");
        number("max_length", "maxLength");
        out.extend(match text(&schema["pattern"]) {
            "" => None,
            UUID if ty == "String" => Some("format = uuid".to_owned()),
            pattern => Some(format!("pattern = {pattern:?}")),
        });
    }
    out.extend(match (ty, text(&schema["format"])) {
        ("String", "k8s-short-name") => Some("format = dns1123_label".to_owned()),
        ("String", "k8s-long-name") => Some("format = dns1123_subdomain".to_owned()),
        _ => None,
    });
    out
}

/// A number without a fraction.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
        Some(float as i64)
    })
}

/// A rule of a struct.
fn rule(rule: &Value) -> String {
    let mut words = vec![format!("{:?}", text(&rule["rule"]))];
    let path = text(&rule["fieldPath"]).trim_start_matches('.');
    if !path.is_empty() {
        words.push(format!("field = {path}"));
    }
    for (word, key) in [("message", "message"), ("message_expression", "messageExpression")] {
        if let Some(text) = rule[key].as_str() {
            words.push(format!("{word} = {text:?}"));
        }
    }
    if let Some(reason) = rule["reason"].as_str().and_then(|reason| reason.strip_prefix("FieldValue")) {
        words.push(format!("reason = {reason}"));
    }
    if rule["optionalOldSelf"] == true {
        words.push("optional_old_self".to_owned());
    }
    format!("#[rule({})]", words.join(", "))
}
