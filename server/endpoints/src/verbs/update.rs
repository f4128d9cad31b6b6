//! PUT.

use std::sync::Arc;

use async_trait::async_trait;
use http::StatusCode;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Change, UpdateOptions, meta, meta_mut};
use serving::Response;

use super::Call;
use crate::admission::{Attributes, Operation};
use crate::endpoint::Endpoint;
use crate::managed::{self, Manager};
use crate::{body, media};

/// Replaces an object, or a part of it through a subresource.
pub async fn update(endpoint: &Arc<Endpoint>, mut call: Call) -> Result<Response, Status> {
    let options = call.query.write_options("UpdateOptions", false)?;
    let accepted = call.accept(true)?;
    let encoding = media::body_encoding(call.content_type())?;
    let bytes = body::read(std::mem::take(&mut call.body)).await?;
    let decoded = body::decode(endpoint.kind, encoding, &bytes, options.field_validation)?;
    call.warn(&decoded.warnings);
    let mut object = decoded.value;
    check_name(&call, &mut object)?;
    let context = call.context(endpoint, options.dry_run);
    let name = call.info.name.clone();
    let manager = managed::manager_name(&options.field_manager, call.user_agent());
    let mut change = Replace {
        endpoint,
        object,
        attributes: call.attributes(endpoint, Operation::Update, &name, options.dry_run),
        manager,
        subresource: call.info.subresource.clone(),
    };
    let update = UpdateOptions {
        dry_run: options.dry_run,
        create_when_absent: endpoint.resource.create_on_update && call.info.subresource.is_empty(),
        subresource: call.info.subresource.clone(),
        ttl_seconds: 0,
    };
    let store = endpoint.store()?;
    let updated = store.update(&context, &name, &update, &mut change).await?;
    let code = if updated.created { StatusCode::CREATED } else { StatusCode::OK };
    super::get::object_in_form(endpoint, code, updated.object, &accepted, &call)
}

/// The name of object and path must agree.
fn check_name(call: &Call, object: &mut Owned) -> Result<(), Status> {
    let Some(meta) = meta_mut(object) else { return Ok(()) };
    if meta.name.is_empty() {
        meta.name = call.info.name.clone();
    }
    if meta.name != call.info.name {
        let message =
            format!("the name of the object ({}) does not match the name on the URL ({})", meta.name, call.info.name);
        return Err(Status::bad_request(message));
    }
    Ok(())
}

/// Puts a body in the place of the stored object.
pub struct Replace<'a> {
    pub endpoint: &'a Endpoint,
    pub object: Owned,
    pub attributes: Attributes,
    pub manager: String,
    pub subresource: String,
}

#[async_trait]
impl Change for Replace<'_> {
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status> {
        let manager = Manager { name: &self.manager, subresource: &self.subresource };
        let mut object = managed::on_update(self.endpoint, current, self.object.clone(), &manager)?;
        let name = meta(object.as_ref()).map_or(String::new(), |m| m.name.clone());
        self.attributes.name = name;
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
