//! DELETE of an object, and the options of deletions.

use std::sync::Arc;

use apimachinery::meta::v1 as metav1;
use async_trait::async_trait;
use http::StatusCode;
use machinery::budget::DecodeError;
use machinery::catalog::GarbageCollection;
use machinery::features;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{CheckDelete, DeleteOptions, Precondition, Propagation, meta};
use request::{Query, Response};

use super::{RequestCost, ResourceRequest};
use crate::admission::{AdmissionAttributes, Operation};
use crate::endpoint::Endpoint;
use crate::media::{Encoding, Forms};
use crate::options::{check_dry_run, refuse};
use crate::{audit, body, gvk, response};

/// Deletes an object.
pub async fn delete(endpoint: &Arc<Endpoint>, mut call: ResourceRequest) -> Result<Response, Status> {
    let accepted = call.accept(Forms::All)?;
    let options = options(endpoint, &mut call).await?;
    warn(endpoint, &call, &options);
    let context = call.context(endpoint, options.store.dry_run);
    let name = call.info.name.clone();
    if options.ignores_read_errors {
        call.trail.annotate("apiserver.k8s.io/unsafe-delete-ignore-read-error", "");
        endpoint.authorize_unsafe_delete(&call.attributes(endpoint, Operation::Delete, &name, false)).await?;
        endpoint.store()?.delete_corrupt(&context, &name).await?;
        return response::deleted_unreadable(endpoint.kind, &name, &accepted);
    }
    let check =
        AdmitDelete { endpoint, attributes: call.attributes(endpoint, Operation::Delete, &name, context.dry_run) };
    let deleted = endpoint.store()?.delete(&context, &name, &options.store, &check).await?;
    let code =
        if !deleted.gone && options.orphan_dependents == Some(false) { StatusCode::ACCEPTED } else { StatusCode::OK };
    if !deleted.gone || deleted.is_answer || endpoint.resource.delete_returns_object {
        return super::get::object_in_form(endpoint, code, deleted.object, &accepted, &call);
    }
    let uid = meta(deleted.object.as_ref()).map_or(String::new(), |m| m.uid.clone());
    response::success(endpoint.kind, endpoint.resource.plural, &name, &uid, &accepted)
}

/// Runs validating admission for each object to delete.
pub struct AdmitDelete<'e> {
    pub endpoint: &'e Endpoint,
    pub attributes: AdmissionAttributes,
}

#[async_trait]
impl CheckDelete for AdmitDelete<'_> {
    async fn check(&self, current: &Owned) -> Result<(), Status> {
        self.endpoint.admission.validate(&self.attributes, None, Some(current)).await
    }
}

/// Warns about dependents that the default policy of a kind orphans.
pub(super) fn warn(endpoint: &Endpoint, call: &ResourceRequest, options: &ParsedDeleteOptions) {
    if options.store.propagation.is_none() && endpoint.resource.garbage_collection == GarbageCollection::Orphan {
        call.warn(&[endpoint.resource.orphan_warning.to_string()]);
    }
}

/// The options of a delete request.
pub(super) struct ParsedDeleteOptions {
    pub(super) store: DeleteOptions,
    orphan_dependents: Option<bool>,
    /// Whether the object is deleted because it is unreadable.
    pub(super) ignores_read_errors: bool,
}

pub(super) const IGNORE_READ_ERRORS: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// Parses the options of body or query. A body takes precedence.
pub(super) async fn options(endpoint: &Endpoint, call: &mut ResourceRequest) -> Result<ParsedDeleteOptions, Status> {
    let cost = call.supported.body_encoding(call.content_type()).map_or(RequestCost::BySize, RequestCost::of);
    let bytes = call.read_body(endpoint, cost).await?;
    let mut parsed = match bytes.is_empty() {
        true => from_query(&call.info.query)?,
        false => {
            let parsed = from_body(call, &bytes)?;
            audit::record_options(&call.trail, &parsed, "DeleteOptions");
            parsed
        }
    };
    if !endpoint.features.enabled(features::AllowUnsafeMalformedObjectDeletion) {
        parsed.ignore_store_read_error_with_cluster_breaking_potential = None;
    }
    check(&parsed)?;
    let ignores_read_errors = parsed.ignore_store_read_error_with_cluster_breaking_potential == Some(true);
    let preconditions = parsed.preconditions.unwrap_or_default();
    let propagation = match (parsed.propagation_policy.as_deref(), parsed.orphan_dependents) {
        (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
        (Some("Foreground"), _) => Some(Propagation::Foreground),
        (Some("Background"), _) => Some(Propagation::Background),
        (None, Some(false)) => Some(Propagation::NotOrphan),
        _ => None,
    };
    let store = DeleteOptions {
        dry_run: !parsed.dry_run.is_empty(),
        precondition: Precondition { uid: preconditions.uid, resource_version: preconditions.resource_version },
        propagation,
        grace_period_seconds: parsed.grace_period_seconds,
    };
    Ok(ParsedDeleteOptions { store, orphan_dependents: parsed.orphan_dependents, ignores_read_errors })
}

fn from_body(call: &ResourceRequest, bytes: &[u8]) -> Result<metav1::DeleteOptions, Status> {
    let encoding = call.supported.body_encoding(call.content_type())?;
    let mut value = metav1::DeleteOptions::default();
    let into = machinery::reflect::Mut::of(&mut value);
    match encoding {
        Encoding::Protobuf => {
            let parts = machinery::envelope::split(bytes).map_err(undecodable)?;
            check_kind(parts.api_version, parts.kind, bytes)?;
            machinery::protobuf::decode_body(parts.raw, into).map_err(undecodable)?;
        }
        Encoding::Json => decode_json(bytes, bytes, into)?,
        Encoding::Cbor => {
            let text = machinery::cbor::to_json(bytes).map_err(undecodable)?;
            decode_json(&text, bytes, into)?;
        }
        Encoding::Yaml => {
            let text =
                machinery::yaml::to_json(bytes, &mut machinery::json::Issues::only_limit()).map_err(undecodable)?;
            decode_json(&text, bytes, into)?;
        }
    }
    Ok(value)
}

/// The default group and version of options.
const META_VERSION: (&str, &str) = ("meta.k8s.io", "v1");

/// Checks the kind of a body. The kind may be absent; options of any group version are accepted.
fn check_kind(api_version: &str, kind: &str, sent: &[u8]) -> Result<(), Status> {
    let (group, version) = gvk::group_version(api_version, META_VERSION);
    if version.is_empty() {
        return Err(Status::bad_request(gvk::no_version(sent)));
    }
    if matches!(kind, "" | "DeleteOptions") {
        return Ok(());
    }
    if gvk::is_unversioned(kind) {
        let why = format!("converting (v1.{kind}) to (v1.DeleteOptions): unknown conversion");
        return Err(Status::bad_request(why));
    }
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Err(Status::bad_request(format!(
        "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/apis/meta/internalversion/scheme/register.go\""
    )))
}

fn decode_json(text: &[u8], sent: &[u8], into: machinery::reflect::Mut<'_>) -> Result<(), Status> {
    let meta = body::type_meta(text, Status::bad_request)?;
    check_kind(&meta.api_version, &meta.kind, sent)?;
    machinery::json::decode(text, into, &mut machinery::json::Issues::only_limit()).map_err(undecodable)
}

/// Returns 400 for malformed options, 413 or 429 when a memory budget is exceeded.
fn undecodable(error: impl DecodeError + std::fmt::Display) -> Status {
    error.into_status(|malformed| Status::bad_request(malformed.to_string()))
}

fn from_query(query: &Query) -> Result<metav1::DeleteOptions, Status> {
    let text = |name: &str| query.get(name).map(str::to_string);
    let condition = |name: &str| text(name).filter(|value| !value.is_empty());
    let preconditions = metav1::Preconditions { uid: condition("uid"), resource_version: condition("resourceVersion") };
    Ok(metav1::DeleteOptions {
        grace_period_seconds: query.number("gracePeriodSeconds")?,
        orphan_dependents: query.optional_flag("orphanDependents"),
        propagation_policy: text("propagationPolicy"),
        dry_run: query.all("dryRun").map(str::to_string).collect(),
        preconditions: (preconditions.uid.is_some() || preconditions.resource_version.is_some())
            .then(|| Box::new(preconditions)),
        ignore_store_read_error_with_cluster_breaking_potential: query.optional_flag(IGNORE_READ_ERRORS),
        ..metav1::DeleteOptions::default()
    })
}

/// Validates options of a deletion (`ValidateDeleteOptions`).
///
/// # Errors
/// Returns 422 for an invalid value.
pub fn check(options: &metav1::DeleteOptions) -> Result<(), Status> {
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
    check_ignore_read_errors(options, &mut errors);
    refuse("DeleteOptions", &errors)
}

/// Checks that no other option is set for an unreadable object (`ValidateIgnoreStoreReadError`).
fn check_ignore_read_errors(options: &metav1::DeleteOptions, errors: &mut Vec<FieldError>) {
    if options.ignore_store_read_error_with_cluster_breaking_potential != Some(true) {
        return;
    }
    let others = [
        ("dryRun", !options.dry_run.is_empty()),
        ("propagationPolicy", options.propagation_policy.is_some()),
        ("orphanDependents", options.orphan_dependents.is_some()),
        ("gracePeriodSeconds", options.grace_period_seconds.is_some()),
        ("preconditions", options.preconditions.is_some()),
    ];
    for (other, _) in others.iter().filter(|(_, is_set)| *is_set) {
        let why = format!("cannot be set together with .{other}");
        errors.push(FieldError::invalid(&Path::new(IGNORE_READ_ERRORS), true, why));
    }
}
