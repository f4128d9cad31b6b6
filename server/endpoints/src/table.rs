//! Tables and metadata-only answers.

use apimachinery::meta::v1 as metav1;
use http::StatusCode;
use machinery::print::{IncludeObject, ListMeta, PrintContext, RowCondition, RowSource, TableOptions, table};
use machinery::reflect::{Owned, Ref, Value};
use machinery::scalar::Time;
use machinery::status::Status;
use machinery::{envelope, json, yaml};
use serving::Response;

use crate::answer::{self, respond};
use crate::endpoint::Endpoint;
use crate::media::{Accepted, Encoding};
use crate::query::Query;

/// Answers with an object as a table of one row.
pub fn of_object(
    endpoint: &Endpoint,
    code: StatusCode,
    object: Owned,
    version: &str,
    accepted: &Accepted,
    query: &Query,
) -> Result<Response, Status> {
    let metadata = ListMeta {
        resource_version: registry::meta(object.as_ref()).map_or(String::new(), |m| m.resource_version.clone()),
        ..ListMeta::default()
    };
    let text = assemble(endpoint, &[object], metadata, version, query, !query.flag("noHeaders"))?;
    send(code, text, accepted)
}

/// Answers with a list as a table.
pub fn of_list(
    endpoint: &Endpoint,
    items: Vec<Owned>,
    meta: &metav1::ListMeta,
    version: &str,
    accepted: &Accepted,
    query: &Query,
) -> Result<Response, Status> {
    let metadata = ListMeta {
        resource_version: meta.resource_version.clone(),
        continue_token: meta.r#continue.clone(),
        remaining_item_count: meta.remaining_item_count,
    };
    let text = assemble(endpoint, &items, metadata, version, query, !query.flag("noHeaders"))?;
    send(StatusCode::OK, text, accepted)
}

/// The table of a watch event; only the first one of a stream describes the columns.
pub fn of_event(endpoint: &Endpoint, hub: Owned, first: bool, version: &str, query: &Query) -> Result<Vec<u8>, Status> {
    let revision = registry::meta(hub.as_ref()).map_or(String::new(), |m| m.resource_version.clone());
    let metadata = ListMeta { resource_version: revision, ..ListMeta::default() };
    assemble(endpoint, std::slice::from_ref(&hub), metadata, version, query, first)
}

fn assemble(
    endpoint: &Endpoint,
    items: &[Owned],
    metadata: ListMeta,
    version: &str,
    query: &Query,
    headers: bool,
) -> Result<Vec<u8>, Status> {
    let include_object = include_object(query)?;
    let api_version = endpoint.kind.api_version();
    let shown: Vec<Owned> = match include_object {
        IncludeObject::Object => items.iter().map(|item| answer::in_version(endpoint.kind, item.clone())).collect(),
        _ => Vec::new(),
    };
    let rows = items.iter().enumerate().map(|(index, hub)| RowSource {
        hub: hub.as_ref(),
        shown: shown.get(index).map_or(hub.as_ref(), Owned::as_ref),
    });
    let options =
        TableOptions { version, include_object, headers, shown_as: (&api_version, endpoint.kind.kind), row_conditions };
    let context = PrintContext { now: Time::from(std::time::SystemTime::now()) };
    let table = table(endpoint.resource.columns, rows, metadata, &context, &options);
    serde_json::to_vec(&table).map_err(Status::internal)
}

fn include_object(query: &Query) -> Result<IncludeObject, Status> {
    let text = query.text("includeObject");
    IncludeObject::parse(text).ok_or_else(|| Status::bad_request(format!("unrecognized includeObject value: {text:?}")))
}

/// What is said of the rows of objects that have come to an end: kinds with a phase do (`printPod`).
fn row_conditions(object: Ref<'_>) -> Vec<RowCondition> {
    if object.def().name != "Pod" {
        return Vec::new();
    }
    let phase =
        object.by_name("status").and_then(Value::as_struct).and_then(|s| s.by_name("phase")).and_then(Value::as_str);
    let completed = |reason, message| vec![RowCondition { kind: "Completed", status: "True", reason, message }];
    match phase {
        Some("Succeeded") => completed("Succeeded", "The pod has completed successfully."),
        Some("Failed") => completed("Failed", "The pod failed."),
        _ => Vec::new(),
    }
}

fn send(code: StatusCode, text: Vec<u8>, accepted: &Accepted) -> Result<Response, Status> {
    match accepted.encoding {
        Encoding::Json => {
            let mut out = text;
            if accepted.pretty {
                let compact = std::mem::take(&mut out);
                json::pretty(&compact, &mut out);
            } else {
                out.push(b'\n');
            }
            Ok(respond(code, Encoding::Json, out))
        }
        Encoding::Yaml => {
            let mut out = Vec::new();
            yaml::from_json(&text, &mut out).map_err(Status::internal)?;
            Ok(respond(code, Encoding::Yaml, out))
        }
        Encoding::Protobuf => Err(Status::new(
            406,
            "NotAcceptable",
            "object *v1.Table does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message",
        )),
    }
}

fn partial(object: &Owned) -> metav1::PartialObjectMetadata {
    let metadata = registry::meta(object.as_ref()).cloned().unwrap_or_default();
    metav1::PartialObjectMetadata { metadata, ..metav1::PartialObjectMetadata::default() }
}

/// Answers with an object's metadata.
pub fn partial_metadata(
    code: StatusCode,
    object: Owned,
    version: &str,
    accepted: &Accepted,
) -> Result<Response, Status> {
    Ok(respond(code, accepted.encoding, {
        let mut bytes = encode_partial_metadata(object, version, accepted)?;
        if accepted.encoding == Encoding::Json && !accepted.pretty {
            bytes.push(b'\n');
        }
        bytes
    }))
}

/// An object's metadata, encoded.
pub fn encode_partial_metadata(object: Owned, version: &str, accepted: &Accepted) -> Result<Vec<u8>, Status> {
    let value = partial(&object);
    let api_version = format!("meta.k8s.io/{version}");
    let typed = answer::Typed { api_version: &api_version, kind: "PartialObjectMetadata", value: Ref::of(&value) };
    let mut bytes = answer::encode(&typed, accepted)?;
    if accepted.encoding == Encoding::Json && bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok(bytes)
}

/// Answers with the metadata of a list's items.
pub fn partial_metadata_list(
    items: Vec<Owned>,
    meta: &metav1::ListMeta,
    version: &str,
    accepted: &Accepted,
) -> Result<Response, Status> {
    let api_version = format!("meta.k8s.io/{version}");
    let partials: Vec<metav1::PartialObjectMetadata> = items.iter().map(partial).collect();
    let body = match accepted.encoding {
        Encoding::Protobuf => {
            let encoded: Vec<Vec<u8>> = partials
                .iter()
                .map(|p| {
                    let mut raw = Vec::new();
                    machinery::protobuf::encode(Ref::of(p), &mut raw);
                    raw
                })
                .collect();
            let length = encoded.iter().map(|raw| envelope::item_len(raw.len())).sum();
            let mut out = Vec::new();
            envelope::list_head(&api_version, "PartialObjectMetadataList", Ref::of(meta), length, &mut out);
            for raw in &encoded {
                envelope::item_head(raw.len(), &mut out);
                out.extend_from_slice(raw);
            }
            out.extend_from_slice(&envelope::TAIL);
            return Ok(respond(StatusCode::OK, Encoding::Protobuf, out));
        }
        Encoding::Json | Encoding::Yaml => {
            let mut out =
                format!("{{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"{api_version}\",\"metadata\":")
                    .into_bytes();
            json::encode(Ref::of(meta), &mut out);
            out.extend_from_slice(b",\"items\":[");
            for (index, value) in partials.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                json::encode_object(&api_version, "PartialObjectMetadata", Ref::of(value), &mut out);
            }
            out.extend_from_slice(b"]}");
            out
        }
    };
    send(StatusCode::OK, body, accepted)
}
