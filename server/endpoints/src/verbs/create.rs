//! POST on a collection or a subresource.

use std::sync::Arc;

use http::StatusCode;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{CreateOptions, ensure_namespace, meta, meta_mut};
use request::Response;

use super::{RequestCost, ResourceRequest};
use crate::admission::{AdmissionAttributes, Operation};
use crate::endpoint::{AdmitCreate, CreateRequest, Endpoint, SubresourceOutput};
use crate::managed::{self, Manager};
use crate::media::{Forms, Representation};
use crate::owners::{self, DedupStage};
use crate::{audit, body, empty, options, response};

/// Creates an object.
pub async fn create(endpoint: &Arc<Endpoint>, mut call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.accept(Forms::All)?;
    let options = options::write_options(&call.info.query, "CreateOptions", false)?;
    let encoding = call.supported.body_encoding(call.content_type())?;
    let bytes = call.read_body(endpoint, RequestCost::of(encoding)).await?;
    let decoded = body::decode(endpoint, encoding, &bytes, options.field_validation, &call.warnings)?;
    let mut object = decoded.value;
    audit::record_request(&call.trail, endpoint.kind, &object);
    check_namespace(endpoint, &call, &mut object)?;
    wipe_object_meta_system_fields(&mut object);
    owners::deduplicate(&mut object, &call.warnings, DedupStage::RequestDocument);
    let context = call.context(endpoint, options.dry_run);
    context.sent.set(move || body::document(encoding, &bytes));
    let (name, generate_name) = names(&object);
    check_name(&call, &name)?;
    let attributes = call.attributes(endpoint, Operation::Create, &name, options.dry_run);
    let attributes = AdmissionAttributes { generate_name, ..attributes };
    let manager = managed::manager_name(&options.field_manager, call.user_agent());
    let manager = Manager { name: &manager, subresource: "", empty: &decoded.empty };
    let mut object = managed::on_update(endpoint, None, object, &manager);
    endpoint.admission.admit(&attributes, &mut object, None).await?;
    owners::deduplicate(&mut object, &call.warnings, DedupStage::Admitted);
    let create = CreateOptions { dry_run: options.dry_run };
    let store = endpoint.store()?;
    let stored =
        store.create(&context, object, &create, &mut AdmitCreate { endpoint, attributes: &attributes }).await?;
    super::get::object_in_form(endpoint, StatusCode::CREATED, stored, &accepted, &call)
}

/// Returns `name` and `generateName` of an object.
fn names(object: &Owned) -> (String, String) {
    meta(object.as_ref()).map_or_else(Default::default, |meta| (meta.name.clone(), meta.generate_name.clone()))
}

/// Checks that a POST to the path of a custom object creates the authorized object. Upstream
/// accepts any name.
fn check_name(call: &ResourceRequest, name: &str) -> Result<(), Status> {
    let wanted = call.info.name.as_str();
    match wanted.is_empty() || wanted == name {
        true => Ok(()),
        false => Err(Status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({wanted})"
        ))),
    }
}

/// Checks the namespace of an object: it may be absent, but must not contradict the path.
fn check_namespace(endpoint: &Endpoint, call: &ResourceRequest, object: &mut Owned) -> Result<(), Status> {
    let Some(meta) = meta_mut(object) else { return Ok(()) };
    ensure_namespace(meta, if endpoint.resource.namespaced { &call.info.namespace } else { "" })
}

/// Handles a POST to a subresource or a virtual resource with its own behaviour.
pub async fn create_special(endpoint: &Endpoint, mut call: ResourceRequest) -> Result<Response, Status> {
    let options = options::write_options(&call.info.query, "CreateOptions", false)?;
    let subresource = call.info.subresource.clone();
    let Some(handler) = endpoint.handlers.get(subresource.as_str()).cloned() else {
        let what = format!("POST of {}", [endpoint.resource.plural, &subresource].join("/"));
        return Err(Status::not_implemented(what.trim_end_matches('/')));
    };
    let endpoint = &Arc::new(endpoint.for_subresource(&subresource)?);
    let accepted = call.accept(Forms::NoTable)?;
    let encoding = call.supported.body_encoding(call.content_type())?;
    let bytes = call.read_body(endpoint, RequestCost::of(encoding)).await?;
    let body = body::BodyDecoder {
        catalog: endpoint.catalog,
        expected: endpoint.kind,
        open: endpoint.open.as_deref(),
        validation: options.field_validation,
        any_version: handler.accepts_other_versions(),
        within_open: false,
        warnings: &call.warnings,
    };
    let decoded = body.object(encoding, &bytes)?;
    call.warn_deprecated(endpoint.kind);
    let mut object = decoded.value;
    audit::record_request(&call.trail, endpoint.kind, &object);
    if !handler.keeps_system_fields() {
        wipe_object_meta_system_fields(&mut object);
    }
    check_namespace(endpoint, &call, &mut object)?;
    let (own_name, generate_name) = names(&object);
    let name = match call.info.name.as_str() {
        "" => own_name,
        name => name.to_owned(),
    };
    let context = call.context(endpoint, options.dry_run);
    let sent = empty::has_empty_list(&bytes).then(|| body::document(encoding, &bytes)).flatten();
    let empty = sent.map_or(Vec::new(), |sent| empty::bare_lists(endpoint.kind.def, &sent));
    context.sent.set(move || body::document(encoding, &bytes));
    let attributes = call.attributes(endpoint, Operation::Create, &name, options.dry_run);
    let attributes = AdmissionAttributes { generate_name, ..attributes };
    let manager = managed::manager_name(&options.field_manager, call.user_agent());
    let manager = Manager { name: &manager, subresource: &subresource, empty: &decoded.empty };
    let mut body = managed::on_update(endpoint, None, object, &manager);
    endpoint.admission.admit(&attributes, &mut body, None).await?;
    let posted = CreateRequest { endpoint, context: &context, attributes: &attributes, body, query: &call.info.query };
    match handler.create(posted).await? {
        SubresourceOutput::Object(object) if accepted.form == Representation::Object => {
            response::object_with_empty(StatusCode::CREATED, endpoint.kind, object, &empty, &accepted)
        }
        SubresourceOutput::Object(object) => {
            super::get::object_in_form(endpoint, StatusCode::CREATED, object, &accepted, &call)
        }
        SubresourceOutput::Success => response::created(&accepted),
    }
}

/// Clears system fields, which clients cannot set (`rest.WipeObjectMetaSystemFields`).
fn wipe_object_meta_system_fields(object: &mut Owned) {
    let Some(meta) = meta_mut(object) else { return };
    meta.creation_timestamp = Default::default();
    meta.uid.clear();
    meta.deletion_timestamp = None;
    meta.deletion_grace_period_seconds = None;
    meta.self_link.clear();
}
