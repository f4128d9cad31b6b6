//! Merges v2 documents of several servers (upstream: `kube-openapi/pkg/aggregator`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::references::{DEFINITIONS, closure, collect};

const GVK: &str = "x-kubernetes-group-version-kind";
const PARAMETERS: &str = "#/parameters/";

/// Adds the paths below `prefix` from one document to another, except for paths that exist there.
///
/// Different definitions and parameters of the same name are renamed
/// (`MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters`).
pub fn merge_v2(into: &mut Value, mut from: Value, prefix: &str) {
    let mut paths = take(&mut from, "paths");
    let known = into.get("paths").and_then(Value::as_object);
    paths.retain(|path, _| path.starts_with(prefix) && known.is_none_or(|known| !known.contains_key(path)));
    if paths.is_empty() {
        return;
    }
    let mut paths = Value::Object(paths);
    let mut definitions = used(take(&mut from, "definitions"), &paths);
    let mut parameters = take(&mut from, "parameters");
    let renamed = Renamed {
        definitions: renames(into.get("definitions"), &definitions, is_same_definition),
        parameters: renames(into.get("parameters"), &parameters, PartialEq::eq),
    };
    renamed.apply(&mut paths);
    definitions.values_mut().for_each(|definition| renamed.apply(definition));
    parameters.values_mut().for_each(|parameter| renamed.apply(parameter));
    insert(into, "paths", as_map(paths), &BTreeMap::new());
    insert(into, "definitions", definitions, &renamed.definitions);
    insert(into, "parameters", parameters, &renamed.parameters);
}

fn take(document: &mut Value, key: &str) -> Map<String, Value> {
    document.get_mut(key).map(Value::take).map_or_else(Map::new, as_map)
}

fn as_map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The definitions that paths refer to.
fn used(mut definitions: Map<String, Value>, paths: &Value) -> Map<String, Value> {
    let mut roots = Vec::new();
    collect(paths, DEFINITIONS, &mut roots);
    let used = closure(DEFINITIONS, |name| definitions.get(name), roots);
    let used: Vec<String> = used.into_iter().map(str::to_owned).collect();
    definitions.retain(|name, _| used.binary_search(name).is_ok());
    definitions
}

/// New names for values that differ from the value of the same name in the other document.
fn renames(
    known: Option<&Value>,
    new: &Map<String, Value>,
    is_same: impl Fn(&Value, &Value) -> bool,
) -> BTreeMap<String, String> {
    let mut renames = BTreeMap::new();
    let Some(known) = known.and_then(Value::as_object) else { return renames };
    for (name, value) in new {
        let mut candidate = name.clone();
        let mut number = 1;
        let clashes = |candidate: &str| match known.get(candidate) {
            Some(other) => !is_same(other, value),
            None => candidate != name && new.contains_key(candidate),
        };
        while clashes(&candidate) {
            number += 1;
            candidate = format!("{name}_v{number}");
        }
        if candidate != *name {
            renames.insert(name.clone(), candidate);
        }
    }
    renames
}

/// Compares definitions without their kinds, because each server lists its own.
fn is_same_definition(a: &Value, b: &Value) -> bool {
    let without = |value: &Value| {
        let mut value = value.clone();
        value.as_object_mut().map(|members| members.shift_remove(GVK));
        value
    };
    a == b || without(a) == without(b)
}

struct Renamed {
    definitions: BTreeMap<String, String>,
    parameters: BTreeMap<String, String>,
}

impl Renamed {
    fn apply(&self, value: &mut Value) {
        if self.definitions.is_empty() && self.parameters.is_empty() {
            return;
        }
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            Value::Object(members) => {
                for (key, value) in members {
                    match value.as_str() {
                        Some(target) if key == "$ref" => {
                            if let Some(target) = self.target(target) {
                                *value = target.into();
                            }
                        }
                        _ => self.apply(value),
                    }
                }
            }
            _ => {}
        }
    }

    fn target(&self, target: &str) -> Option<String> {
        let of = |prefix: &str, names: &BTreeMap<String, String>| {
            Some(format!("{prefix}{}", names.get(target.strip_prefix(prefix)?)?))
        };
        of(DEFINITIONS, &self.definitions).or_else(|| of(PARAMETERS, &self.parameters))
    }
}

fn insert(into: &mut Value, key: &str, new: Map<String, Value>, renames: &BTreeMap<String, String>) {
    if into[key].is_null() {
        into[key] = Map::new().into();
    }
    let Some(known) = into[key].as_object_mut() else { return };
    for (name, value) in new {
        let name = renames.get(&name).cloned().unwrap_or(name);
        match known.get_mut(&name) {
            Some(known) => add_kinds(known, &value),
            None => drop(known.insert(name, value)),
        }
    }
}

/// Adds the kinds of a definition to those of the equal definition.
fn add_kinds(known: &mut Value, new: &Value) {
    let (Some(known), Some(new)) = (known.get_mut(GVK).and_then(Value::as_array_mut), new[GVK].as_array()) else {
        return;
    };
    let before = known.len();
    for kind in new {
        if !known.contains(kind) {
            known.push(kind.clone());
        }
    }
    if known.len() > before {
        let text = |kind: &Value, key: &str| kind[key].as_str().unwrap_or_default().to_owned();
        known.sort_by_cached_key(|kind| {
            format!("{}/{}.{}", text(kind, "group"), text(kind, "version"), text(kind, "kind"))
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(path: &str, definition: &str, schema: Value) -> Value {
        json!({
            "paths": {path: {"get": {"schema": {"$ref": format!("#/definitions/{definition}")}}}},
            "definitions": {definition: schema, "unused": {}},
        })
    }

    #[test]
    fn merge_renames_different_definitions() {
        let kinds = |groups: &[&str]| groups.iter().map(|group| json!({"group": group})).collect::<Value>();
        let base = || document("/apis/a", "M", json!({"type": "object", GVK: kinds(&["a"])}));
        let paths = |merged: &Value| merged["paths"].as_object().expect("paths").keys().cloned().collect::<Vec<_>>();
        let names =
            |merged: &Value| merged["definitions"].as_object().expect("map").keys().cloned().collect::<Vec<_>>();
        for (from, expect_paths, expect_names, target) in [
            // Definitions that differ in their kinds only are equal.
            (
                document("/apis/b", "M", json!({"type": "object", GVK: kinds(&["b"])})),
                &["/apis/a", "/apis/b"][..],
                &["M", "unused"][..],
                "#/definitions/M",
            ),
            (
                document("/apis/b", "M", json!({"type": "string"})),
                &["/apis/a", "/apis/b"],
                &["M", "unused", "M_v2"],
                "#/definitions/M_v2",
            ),
            // The path of the first document wins.
            (document("/apis/a", "N", json!({})), &["/apis/a"], &["M", "unused"], "#/definitions/M"),
            (document("/other", "N", json!({})), &["/apis/a"], &["M", "unused"], "#/definitions/M"),
        ] {
            let mut merged = base();
            merge_v2(&mut merged, from, "/apis/");
            assert_eq!((paths(&merged), names(&merged)), (strings(expect_paths), strings(expect_names)));
            let last = expect_paths.last().expect("a path");
            assert_eq!(merged["paths"][*last]["get"]["schema"]["$ref"], target);
        }
    }

    #[test]
    fn shared_definitions_have_all_kinds() {
        let of = |group: &str| document(&format!("/apis/{group}"), "M", json!({GVK: [{"group": group}]}));
        let mut merged = of("b");
        merge_v2(&mut merged, of("a"), "/");
        assert_eq!(merged["definitions"]["M"][GVK], json!([{"group": "a"}, {"group": "b"}]));
    }

    fn strings(all: &[&str]) -> Vec<String> {
        all.iter().map(|one| (*one).to_owned()).collect()
    }
}
