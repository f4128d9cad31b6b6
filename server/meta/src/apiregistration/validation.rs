//! What upstream checks by hand in the registration of servers (`kube-aggregator/pkg/apis/apiregistration/validation`).

use machinery::field_path::Path;
use machinery::format::{self, Messages, NameRule};
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use machinery::scalar::go_text::quote;

use crate::meta::{validate_object_meta, validate_object_names};
use apimachinery::apiregistration::v1::{APIService, APIServiceSpec, ServiceReference};

/// `ValidateAPIService`, `ValidateAPIServiceStatusUpdate`
pub fn validate_api_service(v: &mut Validation<'_>, path: &Path<'_>, new: &APIService, old: Option<&APIService>) {
    if v.context.subresource == "status" {
        return; // It is checked as declared.
    }
    let wanted = format!("{}.{}", new.spec.version, new.spec.group);
    let names = |name: &str, _| refusal_of_name(name, &wanted);
    let metadata = path.child("metadata");
    let begin = if old.is_some() { v.errors.len() } else { 0 };
    if old.is_some() {
        validate_object_meta(v, &metadata, &new.metadata, false, NameRule::Any);
    }
    validate_object_names(v, &metadata, &new.metadata, begin, names);
    validate_spec(v, &path.child("spec"), &new.spec);
}

fn refusal_of_name(name: &str, wanted: &str) -> Messages {
    let messages = format::is_path_segment_name(name);
    if messages.is_empty() && name != wanted {
        return vec![format!("must be `spec.version+\".\"+spec.group`: {}", quote(wanted)).into()];
    }
    messages
}

fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &APIServiceSpec) {
    v.checks(path, Ref::of(spec), None);
    match &spec.service {
        None => validate_local(v, path, spec),
        Some(service) => validate_remote(v, path, spec, service),
    }
}

/// Of the server itself: nobody has to be trusted.
fn validate_local(v: &mut Validation<'_>, path: &Path<'_>, spec: &APIServiceSpec) {
    if !spec.ca_bundle.is_empty() {
        let shown = format!("{} bytes", spec.ca_bundle.len());
        v.invalid(&path.child("caBundle"), shown, "local APIServices may not have a caBundle");
    }
    if spec.insecure_skip_tls_verify {
        let detail = "local APIServices may not have insecureSkipTLSVerify";
        v.invalid(&path.child("insecureSkipTLSVerify"), true, detail);
    }
}

fn validate_remote(v: &mut Validation<'_>, path: &Path<'_>, spec: &APIServiceSpec, service: &ServiceReference) {
    let at = path.child("service");
    v.filled(&at.child("namespace"), &service.namespace);
    v.filled(&at.child("name"), &service.name);
    let port = service.port.unwrap_or_default();
    let messages = format::is_valid_port_num(port.into());
    if !messages.is_empty() {
        v.invalid(&at.child("port"), port, format!("port is not valid: {}", messages.join(", ")));
    }
    if spec.insecure_skip_tls_verify && !spec.ca_bundle.is_empty() {
        v.invalid(&path.child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present");
    }
}
