//! The structure of OpenAPI documents, without prose, and its comparison with a recorded one.
//!
//! A digest has flat sections, so that a difference is one line:
//! - `definitions`: the properties of each definition as short texts, and the definition itself as `.`;
//! - `operations`: `"GET /api/v1/pods"` with its id, action, kind, parameters, body and answers;
//! - `documents`, of OpenAPI v3: the definitions of each document and the number of its operations. A definition that
//!   differs from the first one of its name has the suffix `@DOCUMENT`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::play::{Content, Server};
use crate::request::Outgoing;
use crate::text;

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];
/// Keywords of a schema that are part of its text, besides `x-kubernetes-*` and `enum`.
const KEYWORDS: [&str; 5] = ["default", "nullable", "minimum", "maximum", "pattern"];

/// The digest of a server's `/openapi/v2`, or of `/openapi/v3` and all its documents.
///
/// # Errors
/// A document that the server does not send.
pub async fn of_server(server: &impl Server, version: u8) -> Result<Value> {
    if version == 2 {
        return Ok(of_document(&get(server, "/openapi/v2").await?));
    }
    let index = get(server, "/openapi/v3").await?;
    let mut documents = BTreeMap::new();
    for path in index["paths"].as_object().into_iter().flat_map(Map::keys) {
        documents.insert(path.clone(), get(server, &format!("/openapi/v3/{path}")).await?);
    }
    Ok(of_documents(&documents))
}

async fn get(server: &impl Server, path: &str) -> Result<Value> {
    let answer = server.send(&Outgoing::new("GET", path, None), false).await?;
    match answer.content {
        // The content type of the index of OpenAPI v3 is text/plain.
        Content::Whole(bytes) if answer.status == 200 => Ok(serde_json::from_slice(&bytes)?),
        _ => Err(Error::Status { path: path.into(), status: answer.status }),
    }
}

/// The digest of a document of OpenAPI v2.
pub fn of_document(document: &Value) -> Value {
    let schemas = fields(&document["definitions"]);
    let definitions: Map<String, Value> = schemas.map(|(name, schema)| (name.clone(), definition(schema))).collect();
    json!({"definitions": definitions, "operations": operations(&document["paths"], &document["parameters"])})
}

/// The digest of documents of OpenAPI v3, by path.
pub fn of_documents(documents: &BTreeMap<String, Value>) -> Value {
    let mut definitions: BTreeMap<String, Value> = BTreeMap::new();
    let (mut all, mut sections) = (Map::new(), Map::new());
    for (path, document) in documents {
        let mut names = BTreeMap::new();
        for (name, schema) in fields(&document["components"]["schemas"]) {
            let found = definition(schema);
            let same = definitions.entry(name.clone()).or_insert_with(|| found.clone()) == &found;
            let key = if same { name.clone() } else { format!("{name}@{path}") };
            definitions.insert(key.clone(), found);
            names.insert(name, key);
        }
        let found = operations(&document["paths"], &document["components"]["parameters"]);
        let names: Value = names.into_values().collect();
        sections
            .insert(path.clone(), json!({"definitions": text::compact(&names), "operations": found.len().to_string()}));
        all.extend(found);
    }
    json!({"definitions": definitions, "operations": all, "documents": sections})
}

/// The text of a digest's file: sorted keys, a line for each entry.
///
/// # Errors
/// None that a digest could cause.
pub fn text(digest: &Value) -> Result<String> {
    let mut out = Vec::new();
    let lines = PrettyFormatter::with_indent(b"");
    text::with_sorted_keys(digest).serialize(&mut Serializer::with_formatter(&mut out, lines))?;
    out.push(b'\n');
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// What differs between two digests, a line each.
pub fn differences(want: &Value, got: &Value) -> Vec<String> {
    let (want, got) = (flat(want), flat(got));
    let mut found = Vec::new();
    for (place, wanted) in &want {
        match got.get(place) {
            None => found.push(format!("missing: {place}")),
            Some(text) if text != wanted => found.push(format!("different: {place}\n  want {wanted}\n  got  {text}")),
            Some(_) => {}
        }
    }
    found.extend(got.keys().filter(|place| !want.contains_key(*place)).map(|place| format!("unexpected: {place}")));
    found
}

fn flat(digest: &Value) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    for (section, entries) in fields(digest) {
        for (name, entry) in fields(entries) {
            match entry {
                Value::Object(parts) => {
                    flat.insert(format!("{section} {name}"), String::new());
                    flat.extend(parts.iter().map(|(part, text)| (format!("{section} {name} {part}"), word(text))));
                }
                text => drop(flat.insert(format!("{section} {name}"), word(text))),
            }
        }
    }
    flat
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| text::compact(value), str::to_string)
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn local(reference: &Value) -> &str {
    reference.as_str().and_then(|reference| reference.rsplit('/').next()).unwrap_or_default()
}

/// The type part of a schema's text: a type with its format, `[ELEMENT]`, `{VALUE}`, or the name of a definition.
fn kind_of(schema: &Value) -> String {
    if schema.get("$ref").is_some() {
        return local(&schema["$ref"]).to_string();
    }
    let all: Vec<&Value> = list(&schema["allOf"]).collect();
    if let [one] = all[..] {
        return kind_of(one);
    }
    for keyword in ["oneOf", "anyOf", "allOf"] {
        if schema.get(keyword).is_some() {
            let kinds: Vec<String> = list(&schema[keyword]).map(kind_of).collect();
            return format!("{keyword}({})", kinds.join(","));
        }
    }
    let kind = schema["type"].as_str().unwrap_or("any");
    if kind == "array" {
        return format!("[{}]", text_of(&schema["items"]));
    }
    if kind == "object" && schema["additionalProperties"].is_object() {
        return format!("{{{}}}", text_of(&schema["additionalProperties"]));
    }
    schema["format"].as_str().map_or_else(|| kind.to_string(), |format| format!("{kind}:{format}"))
}

/// The type and the constraints of a schema.
fn text_of(schema: &Value) -> String {
    let mut parts = vec![kind_of(schema)];
    let sorted: BTreeMap<_, _> = fields(schema).collect();
    for (key, value) in sorted {
        if let Some(extension) = key.strip_prefix("x-kubernetes-") {
            parts.push(format!("{extension}={}", text::compact(value)));
        } else if KEYWORDS.contains(&key.as_str()) {
            parts.push(format!("{key}={}", text::compact(value)));
        } else if key == "enum" {
            parts.push(format!("enum={}", text::compact(&sorted_list(value))));
        }
    }
    parts.join(" ")
}

fn sorted_list(value: &Value) -> Value {
    let mut items: Vec<Value> = list(value).cloned().collect();
    items.sort_by_cached_key(word);
    items.into()
}

fn definition(schema: &Value) -> Value {
    let mut out: Map<String, Value> =
        fields(&schema["properties"]).map(|(name, schema)| (name.clone(), text_of(schema).into())).collect();
    let mut whole = text_of(schema);
    if list(&schema["required"]).next().is_some() {
        whole += &format!(" required={}", text::compact(&sorted_list(&schema["required"])));
    }
    out.insert(".".into(), whole.into());
    Value::Object(out)
}

fn operations(paths: &Value, parameters: &Value) -> Map<String, Value> {
    let mut out = Map::new();
    for (path, item) in fields(paths) {
        for method in METHODS {
            if let Some(operation) = item.get(method) {
                let shared = list(&item["parameters"]).chain(list(&operation["parameters"]));
                let text = operation_text(operation, shared, parameters);
                out.insert(format!("{} {path}", method.to_uppercase()), text.into());
            }
        }
    }
    out
}

fn operation_text<'v>(operation: &Value, own: impl Iterator<Item = &'v Value>, parameters: &Value) -> String {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for parameter in own {
        let parameter =
            if parameter.get("$ref").is_some() { &parameters[local(&parameter["$ref"])] } else { parameter };
        let place = parameter["in"].as_str().unwrap_or("?");
        let mut name = parameter["name"].as_str().unwrap_or("?").to_string();
        if place == "query" && parameter["required"] == true {
            name.push('!');
        }
        if place == "body" {
            name = kind_of(&parameter["schema"]);
        }
        places.entry(place.into()).or_default().insert(name);
    }
    for (_, media) in fields(&operation["requestBody"]["content"]) {
        places.entry("body".into()).or_default().insert(kind_of(&media["schema"]));
    }
    let word = |key: &str| operation[key].as_str().unwrap_or("-").to_string();
    let kind = &operation["x-kubernetes-group-version-kind"];
    let of_kind = |key: &str| kind[key].as_str().unwrap_or_default();
    let kind = if kind.is_object() {
        format!("{}/{}/{}", of_kind("group"), of_kind("version"), of_kind("kind"))
    } else {
        "-".into()
    };
    let mut parts =
        vec![word("operationId"), format!("action={}", word("x-kubernetes-action")), format!("kind={kind}")];
    let places = places.into_iter();
    parts.extend(places.map(|(place, names)| format!("{place}={}", names.into_iter().collect::<Vec<_>>().join(","))));
    format!("{} -> {}", parts.join(" "), answers(&operation["responses"]).join(" "))
}

fn answers(responses: &Value) -> Vec<String> {
    let sorted: BTreeMap<_, _> = fields(responses).collect();
    let answer = |(code, response): (&String, &Value)| {
        let media = fields(&response["content"]).map(|(_, media)| media).chain([response]);
        let kinds: BTreeSet<String> = media.filter_map(|media| media.get("schema")).map(kind_of).collect();
        let kinds: Vec<String> = kinds.into_iter().collect();
        if kinds.is_empty() { code.clone() } else { format!("{code}:{}", kinds.join("|")) }
    };
    sorted.into_iter().map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        json!({
            "definitions": {"a.B": {"type": "object", "description": "prose", "required": ["d", "c"],
                "x-kubernetes-group-version-kind": [{"kind": "B", "group": ""}],
                "properties": {"c": {"type": "array", "items": {"$ref": "#/definitions/a.C"}, "description": "prose"},
                    "d": {"type": "string", "format": "x", "enum": ["z", "y"], "default": ""},
                    "e": {"type": "object", "additionalProperties": {"type": "integer"}},
                    "f": {"allOf": [{"$ref": "#/x/a.F"}], "default": {}}, "g": {"oneOf": [{"type": "string"}, {}]}}}},
            "parameters": {"p-1": {"in": "query", "name": "p"}},
            "paths": {"/x/{name}": {"parameters": [{"$ref": "#/parameters/p-1"}, {"in": "path", "name": "name"}],
                "post": {"operationId": "make", "x-kubernetes-action": "post", "description": "prose",
                    "x-kubernetes-group-version-kind": {"group": "g", "version": "v", "kind": "K"},
                    "parameters": [{"in": "body", "schema": {"$ref": "#/definitions/a.B"}},
                        {"in": "query", "name": "q", "required": true}],
                    "responses": {"401": {"description": "prose"}, "200": {"schema": {"$ref": "#/definitions/a.B"}}}}}},
        })
    }

    #[test]
    fn a_digest_has_types_and_operations_and_no_prose() {
        let digest = of_document(&document());
        let want = json!({
            ".": "object group-version-kind=[{\"group\":\"\",\"kind\":\"B\"}] required=[\"c\",\"d\"]",
            "c": "[a.C]", "d": "string:x default=\"\" enum=[\"y\",\"z\"]", "e": "{integer}", "f": "a.F default={}",
            "g": "oneOf(string,any)"});
        assert_eq!(text::compact(&digest["definitions"]["a.B"]), text::compact(&want));
        let operation = "make action=post kind=g/v/K body=a.B path=name query=p,q! -> 200:a.B 401";
        assert_eq!(digest["operations"]["POST /x/{name}"], operation);
        assert!(!digest.to_string().contains("prose"));
    }

    #[test]
    fn documents_of_version_3_share_definitions() {
        let document = |kind: &str| {
            json!({"components": {"schemas": {"A": {"type": kind}}}, "paths": {"/a": {"get": {"requestBody":
                {"content": {"x": {"schema": {"$ref": "#/A"}}}}, "responses": {"200": {"content":
                {"x": {"schema": {"$ref": "#/A"}}, "y": {"schema": {"$ref": "#/A"}}}}}}}}})
        };
        let documents = [("api", "object"), ("apis", "object"), ("b", "string")];
        let documents = documents.map(|(path, kind)| (path.to_string(), document(kind))).into_iter().collect();
        let digest = of_documents(&documents);
        assert_eq!(digest["definitions"], json!({"A": {".": "object"}, "A@b": {".": "string"}}));
        assert_eq!(digest["documents"]["apis"], json!({"definitions": "[\"A\"]", "operations": "1"}));
        assert_eq!(digest["documents"]["b"]["definitions"], "[\"A@b\"]");
        assert_eq!(digest["operations"]["GET /a"], "- action=- kind=- body=A -> 200:A");
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let want = of_document(&document());
        assert_eq!(differences(&want, &want), [""; 0]);
        let mut other = document();
        other["definitions"]["a.B"]["properties"]["c"] = json!({"type": "string"});
        other["definitions"]["a.B"]["properties"].as_object_mut().unwrap().remove("e");
        other["definitions"]["a.N"] = json!({"type": "object"});
        other["paths"]["/x/{name}"]["get"] = json!({});
        let found = differences(&want, &of_document(&other));
        let want = [
            "different: definitions a.B c\n  want [a.C]\n  got  string",
            "missing: definitions a.B e",
            "unexpected: definitions a.N",
            "unexpected: definitions a.N .",
            "unexpected: operations GET /x/{name}",
        ];
        assert_eq!(found, want);
    }
}
