//! PATCH.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use machinery::reflect::Owned;
use machinery::request_document::RequestDocument;
use machinery::status::Status;
use registry::{CheckWrite, UpdateOptions, UpdatedObjectInfo, WriteOutcome, meta};
use request::Response;
use request::warnings::Warnings;

use super::resource_request::check_identity;
use super::scale::Scale;
use super::{RequestCost, ResourceRequest};
use crate::admission::{AdmissionAttributes, Operation};
use crate::audit;
use crate::endpoint::Endpoint;
use crate::managed::{self, Manager};
use crate::options::{self, FieldValidation};
use crate::owners::{self, DedupStage};
use crate::patching::{self, Patch, PatchType};

/// Patches an object or its Scale.
pub async fn patch(endpoint: &Arc<Endpoint>, mut call: ResourceRequest) -> Result<Response, Status> {
    let subresource = call.info.subresource.clone();
    let scale = Scale::of(endpoint, &subresource)?;
    let for_subresource = endpoint.for_subresource(&subresource)?;
    let kind = PatchType::parse(endpoint, call.supported, call.content_type())?;
    let accepted = call.accept(endpoint.forms(&subresource))?;
    let options = options::write_options(&call.info.query, "PatchOptions", kind == PatchType::Apply)?;
    let bytes = call.read_body(endpoint, cost(kind)).await?;
    let bytes = patching::readable(bytes, call.content_type())?;
    audit::record_patch(&call.trail, &bytes);
    let context = call.context(endpoint, options.dry_run);
    let name = call.info.name.clone();
    let update = UpdateOptions {
        dry_run: options.dry_run,
        create_when_absent: kind == PatchType::Apply && subresource.is_empty(),
        subresource: subresource.clone(),
        ..UpdateOptions::default()
    };
    let change = ApplyPatch {
        endpoint: &for_subresource,
        kind,
        bytes,
        validation: options.field_validation,
        attributes: call.attributes(&for_subresource, Operation::Update, &name, options.dry_run),
        manager: managed::manager_name(&options.field_manager, call.user_agent()),
        subresource,
        warnings: call.warnings.clone(),
        sent: context.sent.clone(),
        force: options.force,
    };
    let updated = super::write(endpoint, &context, &name, &update, scale.as_ref(), change).await?;
    match scale {
        Some(scale) => scale.respond_to_write(updated.object, &accepted, &call),
        None => super::get::object_in_form(endpoint, super::code(&updated), updated.object, &accepted, &call),
    }
}

/// The cost of a patch. JSON patch operations copy, and YAML aliases repeat, more than their size
/// suggests.
fn cost(kind: PatchType) -> RequestCost {
    match kind {
        PatchType::Merge | PatchType::Strategic => RequestCost::BySize,
        PatchType::Json | PatchType::Apply => RequestCost::Unbounded,
    }
}

/// Patches the stored object.
pub struct ApplyPatch<'a> {
    pub endpoint: &'a Endpoint,
    pub kind: PatchType,
    pub bytes: Bytes,
    pub validation: FieldValidation,
    pub attributes: AdmissionAttributes,
    pub manager: String,
    pub subresource: String,
    pub warnings: Warnings,
    pub sent: RequestDocument,
    pub force: bool,
}

impl ApplyPatch<'_> {
    /// Returns the patched object with updated field managers.
    fn patched(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let patch = Patch { kind: self.kind, bytes: &self.bytes, validation: self.validation };
        let manager = Manager { name: &self.manager, subresource: &self.subresource, empty: &[] };
        if self.kind == PatchType::Apply {
            let applied = patch.apply_configuration(self.endpoint, current, &manager, self.force)?;
            applied.warnings.iter().for_each(|text| self.warnings.add(text));
            self.sent.set(move || Some(applied.document.clone()));
            return Ok(applied.object);
        }
        let Some(current) = current else { return Err(Status::not_found(self.endpoint.name(), &self.attributes.name)) };
        let patched = patch.apply(self.endpoint, current)?;
        patched.warnings.iter().for_each(|text| self.warnings.add(text));
        self.sent.set(move || Some(patched.document.clone()));
        let manager = Manager { empty: &patched.empty, ..manager };
        Ok(managed::on_update(self.endpoint, Some(current), patched.object, &manager))
    }

    /// Rejects a uid in an object that does not exist.
    fn refuse_uid(&self, object: &Owned) -> Result<(), Status> {
        let Some(meta) = meta(object.as_ref()).filter(|meta| !meta.uid.is_empty()) else { return Ok(()) };
        let why =
            format!("uid mismatch: the provided object specified uid {}, and no existing object was found", meta.uid);
        Err(Status::conflict(self.endpoint.name(), &self.attributes.name, why))
    }
}

#[async_trait]
impl UpdatedObjectInfo for ApplyPatch<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let mut object = self.patched(current)?;
        if current.is_none() {
            self.refuse_uid(&object)?;
        }
        check_identity(self.endpoint, &self.attributes.namespace, &self.attributes.name, &mut object)?;
        self.attributes.operation = if current.is_some() { Operation::Update } else { Operation::Create };
        self.endpoint.admission.admit(&self.attributes, &mut object, current).await?;
        owners::deduplicate(&mut object, &self.warnings, DedupStage::Admitted);
        if let Some(current) = current {
            registry::keep_times(current, &mut object);
        }
        Ok(object)
    }
}

#[async_trait]
impl CheckWrite for ApplyPatch<'_> {
    async fn check(&mut self, new: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        self.endpoint.check_write(&self.attributes, new, old).await
    }

    async fn settle(&mut self, outcome: WriteOutcome) {
        self.attributes.reservations.settle(outcome).await;
    }
}
