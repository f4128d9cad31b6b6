//! POST on a collection or a subresource.

use std::sync::Arc;

use http::StatusCode;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{CreateOptions, meta, meta_mut};
use serving::Response;

use super::Call;
use crate::admission::Operation;
use crate::endpoint::Endpoint;
use crate::managed::{self, Manager};
use crate::{answer, body, media};

/// Creates an object.
pub async fn create(endpoint: &Arc<Endpoint>, mut call: Call) -> Result<Response, Status> {
    let options = call.query.write_options("CreateOptions", false)?;
    let accepted = call.accept(true)?;
    let encoding = media::body_encoding(call.content_type())?;
    let bytes = body::read(std::mem::take(&mut call.body)).await?;
    let decoded = body::decode(endpoint.kind, encoding, &bytes, options.field_validation)?;
    call.warn(&decoded.warnings);
    call.warn_deprecated(endpoint.kind);
    let mut object = decoded.value;
    check_names(endpoint, &call, &mut object)?;
    let context = call.context(endpoint, options.dry_run);
    let name = meta(object.as_ref()).map_or(String::new(), |m| m.name.clone());
    let attributes = call.attributes(endpoint, Operation::Create, &name, options.dry_run);
    let manager = managed::manager_name(&options.field_manager, call.user_agent());
    let manager = Manager { name: &manager, subresource: "" };
    let mut object = managed::on_update(endpoint, None, object, &manager)?;
    endpoint.admission.admit(&attributes, &mut object, None).await?;
    endpoint.admission.validate(&attributes, Some(&object), None).await?;
    let create = CreateOptions { dry_run: options.dry_run, ttl_seconds: 0 };
    let store = endpoint.store()?;
    let stored = store.create(&context, object, &create).await?;
    super::get::object_in_form(endpoint, StatusCode::CREATED, stored, &accepted, &call)
}

/// An object needs a name, or something to make one of; its namespace is the path's.
fn check_names(endpoint: &Endpoint, call: &Call, object: &mut Owned) -> Result<(), Status> {
    let kind = endpoint.kind_name();
    let Some(meta) = meta_mut(object) else { return Ok(()) };
    if endpoint.resource.namespaced && call.info.namespace.is_empty() && meta.namespace.is_empty() {
        return Err(Status::bad_request("an empty namespace may not be set during creation"));
    }
    let expected = if endpoint.resource.namespaced { call.info.namespace.as_str() } else { "" };
    if meta.namespace.is_empty() {
        meta.namespace = expected.into();
    } else if meta.namespace != expected {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if meta.name.is_empty() && meta.generate_name.is_empty() {
        let path = Path::new("metadata");
        let error = FieldError::required(&path.child("name"), "name or generateName is required");
        return Err(Status::invalid(kind, "", &[error]));
    }
    Ok(())
}

/// POST to a subresource, or to a virtual resource, that has behaviour of its own.
pub async fn create_special(endpoint: &Endpoint, mut call: Call) -> Result<Response, Status> {
    let options = call.query.write_options("CreateOptions", false)?;
    let handler = endpoint.handlers.get(call.info.subresource.as_str()).cloned();
    let Some(handler) = handler else {
        let what = format!("POST of {}", [endpoint.resource.plural, &call.info.subresource].join("/"));
        return Err(Status::not_implemented(what.trim_end_matches('/')));
    };
    let accepted = call.accept(false)?;
    let encoding = media::body_encoding(call.content_type())?;
    let bytes = body::read(std::mem::take(&mut call.body)).await?;
    let kind = handler.body_kind();
    let decoded = body::decode(kind, encoding, &bytes, options.field_validation)?;
    call.warn(&decoded.warnings);
    let context = call.context(endpoint, options.dry_run);
    let answer = handler.create(&context, &call.info.name, decoded.value).await?;
    answer::object(StatusCode::CREATED, kind, answer, &accepted)
}
