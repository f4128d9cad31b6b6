//! GET of one object.

use std::sync::Arc;

use http::StatusCode;
use machinery::offload;
use machinery::reflect::Owned;
use machinery::status::Status;
use request::{Query, Response};

use super::ResourceRequest;
use crate::endpoint::Endpoint;
use crate::media::{Accepted, Encoding, Representation};
use crate::partial::Partial;
use crate::render::Renderer;
use crate::response;
use crate::table::{self, TableWriter};

/// Maximum size in bytes of objects that the connection's thread encodes: `LARGE` for JSON and
/// protobuf, `SMALL` for other forms.
const LARGE: usize = 256 << 10;
const SMALL: usize = 32 << 10;

/// Reads an object or its status.
pub async fn get(endpoint: &Arc<Endpoint>, call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.accept(endpoint.forms(&call.info.subresource))?;
    let store = endpoint.store()?;
    refuse_export(&call.info.query)?;
    let found = store.get_entry(&call.info.namespace, &call.info.name, call.info.query.text("resourceVersion")).await;
    // Events are stored for two groups. The error names the group of the request.
    let entry = found.map_err(|status| match status.reason {
        "NotFound" => Status::not_found(endpoint.name(), &call.info.name),
        _ => status,
    })?;
    let is_plain = matches!(accepted.encoding, Encoding::Json | Encoding::Protobuf) && !accepted.pretty;
    if entry.object.len() > if is_plain { LARGE } else { SMALL } {
        offload::to_work_pool().await?;
    }
    match &accepted.form {
        Representation::Object => {
            let bytes = Renderer::new(endpoint, &accepted)?.object(&entry)?;
            Ok(response::respond(StatusCode::OK, accepted.encoding, bytes))
        }
        Representation::PartialMetadata(version) => {
            let bytes = Partial::new(version).object(&Renderer::new(endpoint, &accepted)?, &entry)?;
            Ok(response::respond(StatusCode::OK, accepted.encoding, bytes))
        }
        _ => object_in_form(endpoint, StatusCode::OK, store.object(&entry)?, &accepted, &call),
    }
}

/// Rejects the removed parameter `export`.
fn refuse_export(query: &Query) -> Result<(), Status> {
    match query.flag("export") {
        true => Err(Status::bad_request("the export parameter, deprecated since v1.14, is no longer supported")),
        false => Ok(()),
    }
}

/// Responds with an object in the negotiated form.
pub fn object_in_form(
    endpoint: &Arc<Endpoint>,
    code: StatusCode,
    object: Owned,
    accepted: &Accepted,
    call: &ResourceRequest,
) -> Result<Response, Status> {
    match &accepted.form {
        Representation::Object => response::object(code, endpoint.kind, object, accepted),
        Representation::Table(version) => {
            let renderer = Renderer::new(endpoint, accepted)?;
            let writer = TableWriter::new(renderer, version, &call.info.query)?;
            table::of_object(&writer, code, object, accepted)
        }
        Representation::PartialMetadata(version) => Partial::new(version).respond(code, &object, accepted),
        Representation::PartialMetadataList(_) => Err(not_a_list(endpoint.internal_package(), endpoint.kind.kind)),
    }
}

/// Returns the error for a request of list metadata for an object.
pub fn not_a_list(package: &str, kind: &str) -> Status {
    let message =
        format!("you requested PartialObjectMetadataList, but the requested object is not a list (*{package}.{kind})");
    Status::new(406, "NotAcceptable", message)
}
