//! GET of a collection.

use std::sync::Arc;

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::offload;
use machinery::status::Status;
use registry::{ListQuery, Predicate};
use request::{Query, RequestInfo, Response};

use super::ResourceRequest;
use crate::endpoint::Endpoint;
use crate::listing;
use crate::media::{Encoding, Forms, Representation};
use crate::options::refuse;

/// Selectors up to this many bytes are evaluated on the connection's thread.
const SMALL_SELECTORS: usize = 2 << 10;

/// Lists a collection.
pub async fn list(endpoint: &Arc<Endpoint>, call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.accept(Forms::All)?;
    let query = list_query(&call.info)?;
    check_list(&query, &call.info.query)?;
    // Selectors are evaluated for each object, and other forms are encoded as a whole.
    let is_plain = matches!(accepted.encoding, Encoding::Json | Encoding::Protobuf) && !accepted.pretty;
    let selectors = call.info.query.text("labelSelector").len() + call.info.query.text("fieldSelector").len();
    if !is_plain || matches!(accepted.form, Representation::Table(_)) || selectors > SMALL_SELECTORS {
        offload::to_work_pool().await?;
    }
    let predicate = predicate(endpoint, &call)?;
    let listed = endpoint.store()?.list(&call.info.namespace, &predicate, &query).await?;
    listing::respond(endpoint, listed, &accepted, &call.info.query)
}

/// Parses the parameters of a list or watch, including selectors. Runs before their validation.
///
/// # Errors
/// Returns 400 for a malformed number or selector.
pub fn list_query(info: &RequestInfo) -> Result<ListQuery, Status> {
    let query = &info.query;
    query.number("timeoutSeconds")?;
    let limit = query.number("limit")?.unwrap_or(0);
    info.selectors.both()?;
    Ok(ListQuery {
        limit: usize::try_from(limit).unwrap_or(0),
        continue_token: query.text("continue").to_string(),
        resource_version: query.text("resourceVersion").to_string(),
        resource_version_match: query.text("resourceVersionMatch").to_string(),
    })
}

/// `ValidateListOptions` for lists.
pub fn check_list(list: &ListQuery, query: &Query) -> Result<(), Status> {
    let mut errors = Vec::new();
    let path = Path::new("resourceVersionMatch");
    if !list.resource_version_match.is_empty() {
        if list.resource_version.is_empty() {
            errors.push(FieldError::forbidden(
                &path,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if !list.continue_token.is_empty() {
            errors.push(FieldError::forbidden(&path, "resourceVersionMatch is forbidden when continue is provided"));
        }
        if !matches!(list.resource_version_match.as_str(), "Exact" | "NotOlderThan") {
            let value = machinery::field_error::BadValue::json_string(&list.resource_version_match);
            errors.push(FieldError::not_supported(&path, value, &["Exact", "NotOlderThan", ""]));
        }
        if list.resource_version_match == "Exact" && list.resource_version == "0" {
            errors.push(FieldError::forbidden(
                &path,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ));
        }
    }
    if query.get("sendInitialEvents").is_some() {
        errors.push(FieldError::forbidden(&Path::new("sendInitialEvents"), "sendInitialEvents is forbidden for list"));
    }
    refuse("ListOptions", &errors)
}

/// Returns the predicate of a list, watch or deletecollection. It always includes the authorized
/// name (upstream: `listOpts`).
pub fn predicate(endpoint: &Endpoint, call: &ResourceRequest) -> Result<Predicate, Status> {
    let (fields, _) = call.info.selectors.both()?;
    for requirement in fields.requirements() {
        check_label(endpoint, &requirement.field)?;
    }
    authorized_predicate(&call.info)
}

/// Combines the selectors of a request with the authorized name.
pub(crate) fn authorized_predicate(info: &RequestInfo) -> Result<Predicate, Status> {
    let (fields, labels) = info.selectors.both()?;
    let (name, labels) = (info.name.as_str(), labels.clone());
    if name.is_empty() {
        return Ok(Predicate { labels, fields: fields.clone() });
    }
    if !fields.is_empty() && fields.requires_exact_match("metadata.name") != Some(name) {
        return Err(Status::bad_request("fieldSelector metadata.name doesn't match requested name"));
    }
    Ok(Predicate { labels, fields: fields.clone().and_equal("metadata.name", name) })
}

/// Rejects field selectors on undeclared labels (`runtime.Scheme.ConvertFieldLabel`).
fn check_label(endpoint: &Endpoint, label: &str) -> Result<(), Status> {
    let known = label == "metadata.name"
        || (label == "metadata.namespace" && (endpoint.resource.namespaced || endpoint.resource.selectable.is_empty()))
        || endpoint.resource.selectable.iter().any(|s| s.label == label);
    if known {
        return Ok(());
    }
    let message = match endpoint.resource.label_error {
        "" if endpoint.resource.selectable.is_empty() => {
            format!("{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
        }
        "" => format!("field label not supported: {label}"),
        template => {
            let kind = format!("{}, Kind={}", endpoint.kind.api_version(), endpoint.kind.kind);
            template.replace("{label}", label).replace("{quoted}", &format!("{label:?}")).replace("{kind}", &kind)
        }
    };
    Err(Status::bad_request(message))
}
