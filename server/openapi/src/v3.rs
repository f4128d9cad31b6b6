//! Builds v3 documents.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, GroupVersion, Parameter};
use crate::item::{Content, Item, Operation};
use crate::options::{OpenApiOptions, is_shared_by_all};
use crate::references::SCHEMAS;
use crate::v2::{extensions, reason};

/// Builds a document. Parameters are listed where they are used, because clients such as kubectl
/// expect them there.
pub(crate) fn document(
    catalog: &Catalog,
    options: &OpenApiOptions,
    version: Option<&GroupVersion>,
    items: &[Item],
    used: &BTreeSet<&str>,
) -> Value {
    let paths: Map<_, _> = items.iter().map(|i| (i.path.clone(), item(i))).collect();
    let schemas: Map<_, _> = used.iter().map(|name| ((*name).to_owned(), definition(catalog, version, name))).collect();
    let mut document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": options.version},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "BearerToken": {
                    "type": "apiKey",
                    "description": "A bearer token.",
                    "name": "authorization",
                    "in": "header",
                },
            },
        },
    });
    if let Some(components) = document["components"].as_object_mut().filter(|_| used.is_empty()) {
        components.remove("schemas");
    }
    document
}

fn definition(catalog: &Catalog, document: Option<&GroupVersion>, name: &str) -> Value {
    let mut schema = catalog.definitions.get(name).cloned().unwrap_or_else(|| json!({}));
    if is_shared_by_all(name) {
        let kind = name.rsplit('.').next().unwrap_or(name);
        let mut kinds = vec![json!({"group": "", "kind": kind, "version": "v1"})];
        if let Some(GroupVersion { group, version, .. }) = document.filter(|document| !document.group.is_empty()) {
            kinds.push(json!({"group": group, "kind": kind, "version": version}));
        }
        schema["x-kubernetes-group-version-kind"] = kinds.into();
    }
    schema
}

fn item(item: &Item) -> Value {
    let mut out = Map::new();
    for operation in &item.operations {
        out.insert(operation.method.into(), self::operation(item, operation));
    }
    let in_path = item.in_path.iter().map(|p| parameter(p, "path", true));
    let shared = item.shared_query().into_iter().map(|p| parameter(p, "query", false));
    let parameters: Vec<_> = in_path.chain(shared).collect();
    if !parameters.is_empty() {
        out.insert("parameters".into(), parameters.into());
    }
    Value::Object(out)
}

fn operation(item: &Item, operation: &Operation) -> Value {
    let mut out = Map::new();
    out.insert("tags".into(), json!([operation.tag]));
    out.insert("description".into(), operation.description.clone().into());
    out.insert("operationId".into(), operation.id.clone().into());
    let own = item.own_query(operation).into_iter().map(|p| parameter(p, "query", false));
    let own: Vec<_> = own.collect();
    if !own.is_empty() {
        out.insert("parameters".into(), own.into());
    }
    if let Some(body) = &operation.body {
        let mut request = json!({"content": content(operation.consumes, &reference(body.definition))});
        if body.required {
            request["required"] = true.into();
        }
        out.insert("requestBody".into(), request);
    }
    out.insert("responses".into(), responses(operation));
    extensions(&mut out, operation);
    Value::Object(out)
}

fn responses(operation: &Operation) -> Value {
    let mut out = Map::new();
    for (code, answer) in &operation.answers {
        let schema = match answer {
            Content::Definition(name) => reference(name),
            Content::Text => json!({"type": "string"}),
        };
        let content = content(operation.produces, &schema);
        out.insert(code.to_string(), json!({"description": reason(*code), "content": content}));
    }
    out.insert("401".into(), json!({"description": reason(401)}));
    Value::Object(out)
}

fn content(media: &[&str], schema: &Value) -> Value {
    Value::Object(media.iter().map(|media| ((*media).to_owned(), json!({"schema": schema}))).collect())
}

fn reference(definition: &str) -> Value {
    json!({"$ref": format!("{SCHEMAS}{definition}")})
}

fn parameter(p: &Parameter, place: &str, required: bool) -> Value {
    let schema = json!({"type": p.kind, "uniqueItems": true});
    let mut out = json!({"name": p.name, "in": place, "description": p.description, "schema": schema});
    if required {
        out["required"] = true.into();
    }
    out
}
