//! Reads of virtual resources. Their objects are computed for each request.

use std::sync::Arc;

use http::StatusCode;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Listed, Predicate, computed_entry, meta};
use request::Response;

use super::ResourceRequest;
use crate::endpoint::{Endpoint, SubresourceHandler};
use crate::listing;
use crate::media::Forms;

/// Reads one object.
pub async fn get(endpoint: &Arc<Endpoint>, call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.accept(Forms::All)?;
    let objects = handler(endpoint)?.objects(Some(&call.info.name)).await?;
    let object = objects.into_iter().next().ok_or_else(|| Status::not_found(endpoint.name(), &call.info.name))?;
    super::get::object_in_form(endpoint, StatusCode::OK, object, &accepted, &call)
}

/// Lists the objects that match the selectors. Ignores the limit, as upstream does.
pub async fn list(endpoint: &Arc<Endpoint>, call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.accept(Forms::All)?;
    super::list::check_list(&super::list::list_query(&call.info)?, &call.info.query)?;
    let predicate = super::list::predicate(endpoint, &call)?;
    let objects = handler(endpoint)?.objects(None).await?;
    let selected = objects.iter().filter(|object| is_selected(object, &predicate));
    let entries = selected.map(|object| computed_entry(endpoint.kind, object)).collect();
    let listed = Listed { entries, revision: 0, continue_token: String::new(), remaining: None, more: false };
    listing::respond(endpoint, listed, &accepted, &call.info.query)
}

fn handler(endpoint: &Endpoint) -> Result<&Arc<dyn SubresourceHandler>, Status> {
    let what = format!("{} in storage", endpoint.name());
    endpoint.handlers.get("").ok_or_else(|| Status::not_implemented(&what))
}

fn is_selected(object: &Owned, predicate: &Predicate) -> bool {
    let Some(meta) = meta(object.as_ref()) else { return false };
    predicate.labels.matches(|label| meta.labels.get(label).map(String::as_str))
        && predicate.fields.matches(|field| match field {
            "metadata.name" => Some(meta.name.as_str()),
            "metadata.namespace" => Some(meta.namespace.as_str()),
            _ => None,
        })
}
