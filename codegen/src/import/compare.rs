//! Differences between a document and the definition that is exported for it.

use serde_json::{Map, Value, json};

use super::names::text;

/// Members that are lists of objects, with the member that identifies an object.
const KEYED: [(&str, &str); 4] = [
    ("versions", "name"),
    ("additionalPrinterColumns", "name"),
    ("selectableFields", "jsonPath"),
    ("x-kubernetes-validations", "rule"),
];

/// One line for each difference, with its path.
pub fn differences(document: &Value, exported: &Value) -> Vec<String> {
    let name = format!("{}.{}", text(&document["spec"]["names"]["plural"]), text(&document["spec"]["group"]));
    let mut out = Vec::new();
    compare(&format!("{name}: spec"), &normal(document), &normal(exported), &mut out);
    out
}

/// The specification in normal form: without defaults that a server fills in, without the order of
/// unordered lists, and without descriptions of what every kind has.
fn normal(definition: &Value) -> Value {
    let mut spec = definition["spec"].clone();
    let kind = text(&spec["names"]["kind"]).to_owned();
    if let Some(spec) = spec.as_object_mut() {
        if spec.get("conversion").is_none_or(|conversion| conversion["strategy"] == "None") {
            spec.remove("conversion");
        }
        spec.retain(|key, value| key != "preserveUnknownFields" || *value == true);
        let annotations = &definition["metadata"]["annotations"];
        if let Some(moves) = annotations["conversion.kube-apiserver/field-moves"].as_str() {
            let mut moves: Value = serde_json::from_str(moves).unwrap_or_default();
            moves.as_array_mut().into_iter().for_each(|all| all.sort_by_key(Value::to_string));
            spec.insert("field-moves".into(), moves);
        }
    }
    let implied = [("singular", kind.to_lowercase()), ("listKind", format!("{kind}List"))];
    if let Some(names) = member(&mut spec, &["names"]).and_then(Value::as_object_mut) {
        names.retain(|key, value| !implied.iter().any(|(name, implied)| key == name && *value == **implied));
    }
    for version in member(&mut spec, &["versions"]).and_then(Value::as_array_mut).into_iter().flatten() {
        without_words(version, &["deprecated"]);
        let columns = member(version, &["additionalPrinterColumns"]).and_then(Value::as_array_mut);
        for column in columns.into_iter().flatten().filter_map(Value::as_object_mut) {
            column.retain(|key, value| key != "priority" || *value != 0);
        }
        let Some(root) = member(version, &["schema", "openAPIV3Schema"]) else { continue };
        schema(root);
        if let Some(properties) = member(root, &["properties"]).and_then(Value::as_object_mut) {
            let metadata = properties.get_mut("metadata").and_then(Value::as_object_mut);
            metadata.into_iter().for_each(|metadata| drop(metadata.remove("description")));
            properties.retain(|name, value| {
                !["apiVersion", "kind"].contains(&name.as_str())
                    && (name != "metadata" || *value != json!({"type": "object"}))
            });
        }
    }
    spec
}

/// The value below members of these names.
fn member<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, name| value.get_mut(*name))
}

/// Removes members of these names if they are false.
fn without_words(value: &mut Value, names: &[&str]) {
    if let Some(members) = value.as_object_mut() {
        members.retain(|key, value| *value != false || !names.contains(&key.as_str()));
    }
}

/// Normalizes a schema and its subschemas.
fn schema(value: &mut Value) {
    let words = [
        "nullable",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "uniqueItems",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
    ];
    without_words(value, &words);
    let Some(members) = value.as_object_mut() else { return };
    if let Some(Value::String(text)) = members.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    members.retain(|key, value| key != "description" || *value != "");
    if let Some(Value::Array(names)) = members.get_mut("required") {
        names.sort_by_key(Value::to_string);
    }
    if members.get("x-kubernetes-int-or-string").is_some() {
        members.retain(|key, value| key != "anyOf" || *value != json!([{"type": "integer"}, {"type": "string"}]));
    }
    members.get_mut("properties").and_then(Value::as_object_mut).into_iter().for_each(|properties| {
        properties.values_mut().for_each(schema);
    });
    ["items", "additionalProperties"].into_iter().for_each(|key| members.get_mut(key).into_iter().for_each(schema));
    let properties = members.get("properties").cloned();
    if let Some(default) = members.get_mut("default") {
        complete(default, properties.as_ref());
    }
}

/// Completes a default with the defaults of its members, as a server does.
fn complete(default: &mut Value, properties: Option<&Value>) {
    let Some(members) = default.as_object_mut() else { return };
    for (name, property) in properties.and_then(Value::as_object).into_iter().flatten() {
        if !members.contains_key(name) && !property["default"].is_null() {
            members.insert(name.clone(), property["default"].clone());
        }
        members.get_mut(name).into_iter().for_each(|member| complete(member, property.get("properties")));
    }
    members.sort_keys();
}

/// Compares the values at a path.
fn compare(path: &str, document: &Value, exported: &Value, out: &mut Vec<String>) {
    if document == exported {
        return;
    }
    match (document, exported) {
        (Value::Object(one), Value::Object(other)) => members(path, one, other, out),
        _ => out.push(format!("{path}: {} becomes {}", short(document), short(exported))),
    }
}

fn members(path: &str, document: &Map<String, Value>, exported: &Map<String, Value>, out: &mut Vec<String>) {
    let names = document.keys().chain(exported.keys().filter(|name| !document.contains_key(*name)));
    for name in names {
        let below = format!("{path}.{name}");
        let keyed = KEYED.iter().find(|(list, _)| list == name).map(|(_, key)| *key);
        match (document.get(name), exported.get(name)) {
            (Some(Value::Array(one)), other @ (None | Some(Value::Array(_)))) if keyed.is_some() => {
                let other = other.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                items(&below, [one, other], keyed.unwrap_or_default(), out);
            }
            (Some(one), Some(other)) => compare(&below, one, other, out),
            (Some(one), None) => out.push(format!("{below}: {} is lost", short(one))),
            (None, Some(other)) => out.push(format!("{below}: {} is new", short(other))),
            (None, None) => {}
        }
    }
}

/// Compares lists of objects, which one member identifies.
fn items(path: &str, [document, exported]: [&[Value]; 2], key: &str, out: &mut Vec<String>) {
    let other = |all: &[Value], item: &Value| all.iter().find(|other| other[key] == item[key]).cloned();
    for item in document {
        let below = format!("{path}[{}]", text(&item[key]));
        match other(exported, item) {
            Some(other) => compare(&below, item, &other, out),
            None => out.push(format!("{below}: is lost")),
        }
    }
    for item in exported.iter().filter(|item| other(document, item).is_none()) {
        out.push(format!("{path}[{}]: {} is new", text(&item[key]), short(item)));
    }
}

/// A value, shortened for a message.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}
