//! Builds the v2 document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, GroupVersionKind, Parameter};
use crate::item::{Content, Item, Operation};
use crate::options::{OpenApiOptions, is_shared_by_all, kinds_of_all};
use crate::schema::to_v2;

const GVK: &str = "x-kubernetes-group-version-kind";

/// Builds the document. Query parameters are in `parameters` and referred to, because there are
/// some 7000 uses.
pub(crate) fn document(catalog: &Catalog, options: &OpenApiOptions, items: &[Item], used: &BTreeSet<&str>) -> Value {
    let mut writer = Writer::default();
    let paths: Map<_, _> = items.iter().map(|item| (item.path.clone(), writer.item(item))).collect();
    let definitions: Map<_, _> = used.iter().map(|name| ((*name).to_owned(), definition(catalog, name))).collect();
    let parameters: Map<_, _> = writer.shared.into_values().collect();
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": options.version},
        "paths": paths,
        "definitions": definitions,
        "parameters": parameters,
        "securityDefinitions": {
            "BearerToken": {
                "description": "A bearer token.",
                "type": "apiKey",
                "name": "authorization",
                "in": "header",
            },
        },
        "security": [{"BearerToken": []}],
    })
}

fn definition(catalog: &Catalog, name: &str) -> Value {
    let mut schema = catalog.definitions.get(name).map(to_v2).unwrap_or_else(|| json!({}));
    if is_shared_by_all(name) {
        schema[GVK] = kinds_of_all(catalog, name);
    }
    schema
}

/// Collects the query parameters that operations refer to: (name, description) -> (key, parameter).
#[derive(Default)]
struct Writer<'a> {
    shared: BTreeMap<(&'a str, &'a str), (String, Value)>,
}

impl<'a> Writer<'a> {
    fn item(&mut self, item: &Item<'a>) -> Value {
        let mut out = Map::new();
        for operation in &item.operations {
            out.insert(operation.method.into(), self.operation(item, operation));
        }
        let mut parameters: Vec<_> = item.in_path.iter().map(|p| parameter(p, "path", true)).collect();
        parameters.extend(item.shared_query().into_iter().map(|p| self.reference(p)));
        if !parameters.is_empty() {
            out.insert("parameters".into(), parameters.into());
        }
        Value::Object(out)
    }

    fn operation(&mut self, item: &Item<'a>, operation: &Operation<'a>) -> Value {
        let mut out = Map::new();
        out.insert("description".into(), operation.description.clone().into());
        out.insert("consumes".into(), json!(operation.consumes));
        out.insert("produces".into(), json!(operation.produces));
        out.insert("schemes".into(), json!(["https"]));
        out.insert("tags".into(), json!([operation.tag]));
        out.insert("operationId".into(), operation.id.clone().into());
        let body = operation.body.iter().map(|body| {
            let mut out = json!({"name": "body", "in": "body", "schema": reference(body.definition)});
            if body.required {
                out["required"] = true.into();
            }
            out
        });
        let mut parameters: Vec<_> = body.collect();
        parameters.extend(item.own_query(operation).into_iter().map(|p| self.reference(p)));
        if !parameters.is_empty() {
            out.insert("parameters".into(), parameters.into());
        }
        out.insert("responses".into(), responses(operation));
        extensions(&mut out, operation);
        Value::Object(out)
    }

    fn reference(&mut self, p: &'a Parameter) -> Value {
        let entry = self.shared.entry((&p.name, &p.description));
        let (key, _) = entry.or_insert_with(|| (key(p), parameter(p, "query", false)));
        json!({"$ref": format!("#/parameters/{key}")})
    }
}

fn responses(operation: &Operation) -> Value {
    let mut out = Map::new();
    for (code, content) in &operation.answers {
        let schema = match content {
            Content::Definition(name) => reference(name),
            Content::Text => json!({"type": "string"}),
        };
        out.insert(code.to_string(), json!({"description": reason(*code), "schema": schema}));
    }
    out.insert("401".into(), json!({"description": reason(401)}));
    Value::Object(out)
}

/// The reason phrase of an HTTP status code.
pub(crate) fn reason(code: u16) -> &'static str {
    match code {
        201 => "Created",
        202 => "Accepted",
        401 => "Unauthorized",
        _ => "OK",
    }
}

/// The extensions of an operation.
pub(crate) fn extensions(out: &mut Map<String, Value>, operation: &Operation) {
    if let Some(action) = operation.action {
        out.insert("x-kubernetes-action".into(), action.into());
    }
    if let Some(GroupVersionKind { group, version, kind }) = &operation.kind {
        out.insert(GVK.into(), json!({"group": group, "kind": kind, "version": version}));
    }
}

fn reference(definition: &str) -> Value {
    json!({"$ref": format!("#/definitions/{definition}")})
}

fn parameter(p: &Parameter, place: &str, required: bool) -> Value {
    let mut out =
        json!({"name": p.name, "in": place, "description": p.description, "type": p.kind, "uniqueItems": true});
    if required {
        out["required"] = true.into();
    }
    out
}

/// The key of a parameter: its name and a hash of its content, so that documents of several servers
/// merge without conflicts.
fn key(p: &Parameter) -> String {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let text = [p.name.as_bytes(), p.kind.as_bytes(), p.description.as_bytes()].concat();
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    format!("{}-{:08x}", p.name, hash >> 32)
}
