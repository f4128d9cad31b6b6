//! PUT.

use std::sync::Arc;

use async_trait::async_trait;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{CheckWrite, Precondition, UpdateOptions, UpdatedObjectInfo, WriteOutcome, meta};
use request::Response;
use request::warnings::Warnings;

use super::scale::Scale;
use super::{RequestCost, ResourceRequest};
use crate::admission::{AdmissionAttributes, Operation};
use crate::endpoint::Endpoint;
use crate::managed::{self, Manager};
use crate::owners::{self, DedupStage};
use crate::{audit, body, empty, options};

/// Replaces an object, or a part of it through a subresource.
pub async fn update(endpoint: &Arc<Endpoint>, mut call: ResourceRequest) -> Result<Response, Status> {
    let subresource = call.info.subresource.clone();
    let scale = Scale::of(endpoint, &subresource)?;
    let for_subresource = endpoint.for_subresource(&subresource)?;
    let accepted = call.accept(endpoint.forms(&subresource))?;
    let options = options::write_options(&call.info.query, "UpdateOptions", false)?;
    let encoding = call.supported.body_encoding(call.content_type())?;
    let bytes = call.read_body(endpoint, RequestCost::of(encoding)).await?;
    let decoded = body::decode(&for_subresource, encoding, &bytes, options.field_validation, &call.warnings)?;
    let mut object = decoded.value;
    audit::record_request(&call.trail, for_subresource.kind, &object);
    call.check_identity(endpoint, &mut object)?;
    owners::deduplicate(&mut object, &call.warnings, DedupStage::RequestDocument);
    let context = call.context(endpoint, options.dry_run);
    context.sent.set(move || body::document(encoding, &bytes));
    let name = call.info.name.clone();
    let update = UpdateOptions {
        dry_run: options.dry_run,
        create_when_absent: endpoint.resource.create_on_update && subresource.is_empty(),
        subresource: subresource.clone(),
        precondition: Precondition { uid: uid_of(&object), resource_version: None },
    };
    let replace = Replace {
        endpoint: &for_subresource,
        object,
        attributes: call.attributes(&for_subresource, Operation::Update, &name, options.dry_run),
        manager: managed::manager_name(&options.field_manager, call.user_agent()),
        subresource,
        empty: decoded.empty,
        warnings: call.warnings.clone(),
    };
    let updated = super::write(endpoint, &context, &name, &update, scale.as_ref(), replace).await?;
    match scale {
        Some(scale) => scale.respond_to_write(updated.object, &accepted, &call),
        None => super::get::object_in_form(endpoint, super::code(&updated), updated.object, &accepted, &call),
    }
}

/// The uid precondition of the body.
fn uid_of(object: &Owned) -> Option<String> {
    meta(object.as_ref()).map(|meta| meta.uid.clone()).filter(|uid| !uid.is_empty())
}

/// Replaces the stored object with a body.
pub struct Replace<'a> {
    pub endpoint: &'a Endpoint,
    pub object: Owned,
    pub attributes: AdmissionAttributes,
    pub manager: String,
    pub subresource: String,
    /// Paths of lists that are empty in the body.
    pub empty: Vec<empty::ListPath>,
    pub warnings: Warnings,
}

#[async_trait]
impl UpdatedObjectInfo for Replace<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let manager = Manager { name: &self.manager, subresource: &self.subresource, empty: &self.empty };
        let mut object = managed::on_update(self.endpoint, current, self.object.clone(), &manager);
        let name = meta(object.as_ref()).map_or(String::new(), |m| m.name.clone());
        self.attributes.name = name;
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
impl CheckWrite for Replace<'_> {
    async fn check(&mut self, new: &Owned, old: Option<&Owned>) -> Result<(), Status> {
        self.endpoint.check_write(&self.attributes, new, old).await
    }

    async fn settle(&mut self, outcome: WriteOutcome) {
        self.attributes.reservations.settle(outcome).await;
    }
}
