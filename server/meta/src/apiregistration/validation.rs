//! Hand-written validation of APIServices, which upstream does not declare
//! (`kube-aggregator/pkg/apis/apiregistration/validation`).

use machinery::field_path::Path;
use machinery::format::{self, Messages, NameRule};
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::scalar::go_text::quote;

use crate::meta::{validate_object_meta, validate_object_names};
use apimachinery::apiregistration::v1::{APIService, APIServiceSpec};

/// Validates the metadata; the name must be `version.group`. Hand-written because the message shows
/// the expected name.
pub fn validate_api_service_name(v: &mut Validation<'_>, path: &Path<'_>, new: &APIService, old: Option<&APIService>) {
    let wanted = format!("{}.{}", new.spec.version, new.spec.group);
    let names = |name: &str, _| refusal_of_name(name, &wanted);
    let metadata = path.child(json_name!(APIService.metadata));
    let begin = if old.is_some() { v.errors.len() } else { 0 };
    if old.is_some() {
        validate_object_meta(v, &metadata, &new.metadata, false, NameRule::Any);
    }
    validate_object_names(v, &metadata, &new.metadata, begin, names);
}

fn refusal_of_name(name: &str, wanted: &str) -> Messages {
    let messages = format::is_path_segment_name(name);
    if messages.is_empty() && name != wanted {
        return vec![format!("must be `spec.version+\".\"+spec.group`: {}", quote(wanted)).into()];
    }
    messages
}

/// Rejects a CA bundle of a local APIService. Hand-written because the message shows the size.
pub fn validate_local_bundle(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &APIServiceSpec,
    _: Option<&APIServiceSpec>,
) {
    if !new.ca_bundle.is_empty() {
        let shown = format!("{} bytes", new.ca_bundle.len());
        v.invalid(
            &path.child(json_name!(APIServiceSpec.ca_bundle)),
            shown,
            "local APIServices may not have a caBundle",
        );
    }
}
