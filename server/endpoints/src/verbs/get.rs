//! GET of one object.

use http::StatusCode;
use machinery::reflect::Owned;
use machinery::status::Status;
use serving::Response;

use super::Call;
use crate::endpoint::Endpoint;
use crate::media::{Accepted, Form};
use crate::{answer, table};

/// Reads an object or its status.
pub async fn get(endpoint: &Endpoint, call: Call) -> Result<Response, Status> {
    let accepted = call.accept(true)?;
    let store = endpoint.store()?;
    call.warn_deprecated(endpoint.kind);
    let object = store.get(&call.info.namespace, &call.info.name, call.query.text("resourceVersion")).await?;
    object_in_form(endpoint, StatusCode::OK, object, &accepted, &call)
}

/// Answers with an object in the form asked for.
pub fn object_in_form(
    endpoint: &Endpoint,
    code: StatusCode,
    object: Owned,
    accepted: &Accepted,
    call: &Call,
) -> Result<Response, Status> {
    match &accepted.form {
        Form::Object => answer::object(code, endpoint.kind, object, accepted),
        Form::Table(version) => table::of_object(endpoint, code, object, version, accepted, &call.query),
        Form::PartialMetadata(version) => table::partial_metadata(code, object, version, accepted),
        Form::PartialMetadataList(_) => {
            let kind = endpoint.kind.kind;
            let group = endpoint.internal_package();
            Err(Status::new(
                406,
                "NotAcceptable",
                format!(
                    "you requested PartialObjectMetadataList, but the requested object is not a list (*{group}.{kind})"
                ),
            ))
        }
    }
}
