//! DELETE of an object or a collection.

use std::sync::Arc;

use apimachinery::meta::v1 as metav1;
use http::StatusCode;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::status::Status;
use registry::{DeleteOptions, Precondition, Propagation, meta};
use serving::Response;

use super::Call;
use crate::admission::Operation;
use crate::endpoint::Endpoint;
use crate::media::Encoding;
use crate::query::{Query, check_dry_run, refuse};
use crate::{answer, body, listing, media};

/// Deletes an object.
pub async fn delete(endpoint: &Arc<Endpoint>, mut call: Call) -> Result<Response, Status> {
    let accepted = call.accept(true)?;
    let options = options(&mut call).await?;
    call.warn_deprecated(endpoint.kind);
    let context = call.context(endpoint, options.dry_run);
    let store = endpoint.store()?;
    let name = call.info.name.clone();
    let attributes = call.attributes(endpoint, Operation::Delete, &name, options.dry_run);
    let current = store.get(&call.info.namespace, &name, "").await?;
    endpoint.admission.validate(&attributes, None, Some(&current)).await?;
    let (object, gone) = store.delete(&context, &name, &options).await?;
    if !gone || endpoint.resource.delete_returns_object {
        return super::get::object_in_form(endpoint, StatusCode::OK, object, &accepted, &call);
    }
    let uid = meta(object.as_ref()).map_or(String::new(), |m| m.uid.clone());
    answer::success(endpoint.kind, endpoint.resource.plural, &name, &uid, &accepted)
}

/// Deletes what a list would show.
pub async fn delete_collection(endpoint: &Arc<Endpoint>, mut call: Call) -> Result<Response, Status> {
    let accepted = call.accept(true)?;
    let options = options(&mut call).await?;
    let predicate = super::list::predicate(endpoint, &call)?;
    let query = super::list::list_query(&call.query)?;
    let store = endpoint.store()?;
    let context = call.context(endpoint, options.dry_run);
    let listed = store.list(&call.info.namespace, &predicate, &query).await?;
    for entry in &listed.entries {
        let object = store.object(entry)?;
        let Some(meta) = meta(object.as_ref()) else { continue };
        let mut context = context.clone();
        context.namespace = meta.namespace.clone();
        match store.delete(&context, &meta.name, &options).await {
            Ok(_) => {}
            Err(status) if status.code == 404 => {}
            Err(status) => return Err(status),
        }
    }
    listing::respond(endpoint, listed, &accepted, &call.query)
}

/// The options of body and query; the body wins when there is one.
async fn options(call: &mut Call) -> Result<DeleteOptions, Status> {
    let bytes = body::read(std::mem::take(&mut call.body)).await?;
    let said = if bytes.is_empty() { from_query(&call.query)? } else { from_body(call, &bytes)? };
    check(&said)?;
    let preconditions = said.preconditions.unwrap_or_default();
    let propagation = match (said.propagation_policy.as_deref(), said.orphan_dependents) {
        (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
        (Some("Foreground"), _) => Some(Propagation::Foreground),
        (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
        _ => None,
    };
    Ok(DeleteOptions {
        dry_run: !said.dry_run.is_empty(),
        precondition: Precondition { uid: preconditions.uid, resource_version: preconditions.resource_version },
        propagation,
        grace_period_seconds: said.grace_period_seconds,
    })
}

fn from_body(call: &Call, bytes: &[u8]) -> Result<metav1::DeleteOptions, Status> {
    let encoding = media::body_encoding(call.content_type())?;
    let mut value = metav1::DeleteOptions::default();
    let into = machinery::reflect::Mut::of(&mut value);
    let refused = |why: String| Status::bad_request(why);
    match encoding {
        Encoding::Protobuf => {
            let parts = machinery::envelope::split(bytes).map_err(|e| refused(e.to_string()))?;
            machinery::protobuf::decode(parts.raw, into).map_err(|e| refused(e.to_string()))?;
        }
        Encoding::Json => decode_json(bytes, into)?,
        Encoding::Yaml => {
            let text = machinery::yaml::to_json(bytes, &mut machinery::json::Issues::ignore())
                .map_err(|e| refused(e.to_string()))?;
            decode_json(&text, into)?;
        }
    }
    Ok(value)
}

fn decode_json(text: &[u8], into: machinery::reflect::Mut<'_>) -> Result<(), Status> {
    machinery::json::decode(text, into, &mut machinery::json::Issues::ignore())
        .map_err(|e| Status::bad_request(e.to_string()))
}

fn from_query(query: &Query) -> Result<metav1::DeleteOptions, Status> {
    let text = |name: &str| query.get(name).map(str::to_string);
    let preconditions = metav1::Preconditions { uid: text("uid"), resource_version: text("resourceVersion") };
    Ok(metav1::DeleteOptions {
        grace_period_seconds: query.number("gracePeriodSeconds")?,
        orphan_dependents: query.optional_flag("orphanDependents"),
        propagation_policy: text("propagationPolicy"),
        dry_run: query.all("dryRun").map(str::to_string).collect(),
        preconditions: (preconditions.uid.is_some() || preconditions.resource_version.is_some())
            .then(|| Box::new(preconditions)),
        ..metav1::DeleteOptions::default()
    })
}

/// `ValidateDeleteOptions`
fn check(options: &metav1::DeleteOptions) -> Result<(), Status> {
    let mut errors = Vec::new();
    let path = Path::new("propagationPolicy");
    if options.propagation_policy.is_some() && options.orphan_dependents.is_some() {
        errors.push(FieldError::invalid(
            &path,
            BadValue::json_string(options.propagation_policy.as_deref().unwrap_or("")),
            "orphanDependents and deletionPropagation cannot be both set",
        ));
    }
    if let Some(policy) = options.propagation_policy.as_deref()
        && !matches!(policy, "Foreground" | "Background" | "Orphan")
    {
        errors.push(FieldError::not_supported(
            &path,
            BadValue::json_string(policy),
            &["Foreground", "Background", "Orphan", "nil"],
        ));
    }
    let dry_run: Vec<&str> = options.dry_run.iter().map(String::as_str).collect();
    check_dry_run(&dry_run, &mut errors);
    refuse("DeleteOptions", &errors)
}
