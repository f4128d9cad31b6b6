//! PATCH.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::StatusCode;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Change, UpdateOptions, meta_mut};
use serving::Response;

use super::Call;
use crate::admission::{Attributes, Operation};
use crate::body;
use crate::endpoint::Endpoint;
use crate::managed::{self, Manager};
use crate::patching::{Patch, PatchType};
use crate::query::FieldValidation;

/// Changes an object by a patch.
pub async fn patch(endpoint: &Arc<Endpoint>, mut call: Call) -> Result<Response, Status> {
    let kind = PatchType::parse(call.content_type())?;
    let options = call.query.write_options("PatchOptions", kind == PatchType::Apply)?;
    let accepted = call.accept(true)?;
    let bytes = body::read(std::mem::take(&mut call.body)).await?;
    let context = call.context(endpoint, options.dry_run);
    let name = call.info.name.clone();
    let mut change = ApplyPatch {
        endpoint,
        kind,
        bytes,
        validation: options.field_validation,
        attributes: call.attributes(endpoint, Operation::Update, &name, options.dry_run),
        manager: managed::manager_name(&options.field_manager, call.user_agent()),
        subresource: call.info.subresource.clone(),
        warnings: Vec::new(),
        force: options.force,
    };
    let update = UpdateOptions {
        dry_run: options.dry_run,
        create_when_absent: kind == PatchType::Apply && call.info.subresource.is_empty(),
        subresource: call.info.subresource.clone(),
        ttl_seconds: 0,
    };
    let store = endpoint.store()?;
    let updated = store.update(&context, &name, &update, &mut change).await?;
    call.warn(&change.warnings);
    let code = if updated.created { StatusCode::CREATED } else { StatusCode::OK };
    super::get::object_in_form(endpoint, code, updated.object, &accepted, &call)
}

/// Makes the new object by patching the stored one.
struct ApplyPatch<'a> {
    endpoint: &'a Endpoint,
    kind: PatchType,
    bytes: Bytes,
    validation: FieldValidation,
    attributes: Attributes,
    manager: String,
    subresource: String,
    warnings: Vec<String>,
    force: bool,
}

impl ApplyPatch<'_> {
    /// The patched object with its field ownership.
    fn patched(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let patch = Patch { kind: self.kind, bytes: &self.bytes, validation: self.validation };
        let manager = Manager { name: &self.manager, subresource: &self.subresource };
        if self.kind == PatchType::Apply {
            let applied = patch.apply_configuration(self.endpoint, current, &manager, self.force)?;
            self.warnings = applied.warnings;
            return Ok(applied.object);
        }
        let Some(current) = current else { return Err(Status::not_found(self.endpoint.name(), &self.attributes.name)) };
        let patched = patch.apply(self.endpoint, current)?;
        self.warnings = patched.warnings;
        managed::on_update(self.endpoint, Some(current), patched.object, &manager)
    }
}

#[async_trait]
impl Change for ApplyPatch<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let mut object = self.patched(current)?;
        if let Some(meta) = meta_mut(&mut object) {
            if meta.name.is_empty() {
                meta.name = self.attributes.name.clone();
            }
            if meta.name != self.attributes.name {
                let message = format!(
                    "the name of the object ({}) does not match the name on the URL ({})",
                    meta.name, self.attributes.name
                );
                return Err(Status::bad_request(message));
            }
        }
        self.attributes.operation = if current.is_some() { Operation::Update } else { Operation::Create };
        self.endpoint.admission.admit(&self.attributes, &mut object, current).await?;
        if let Some(current) = current {
            managed::keep_times(self.endpoint, current, &mut object)?;
        }
        if current.is_none() {
            self.endpoint.authorize_create(&self.attributes).await?;
        }
        self.endpoint.admission.validate(&self.attributes, Some(&object), current).await?;
        Ok(object)
    }
}
