//! What upstream checks by hand in the registration of servers (`kube-aggregator/pkg/apis/apiregistration/validation`).

use machinery::field_path::Path;
use machinery::format::{self, Messages, NameRule};
use machinery::hooks::Validation;
use machinery::scalar::go_text::quote;

use crate::apiregistration::v1::{APIService, APIServiceSpec, APIServiceStatus, ServiceReference};
use crate::hatches::meta::{validate_object_meta, validate_object_names};

const MAX_GROUP_PRIORITY: i32 = 20_000;
const MAX_VERSION_PRIORITY: i32 = 1000;

/// `ValidateAPIService`, `ValidateAPIServiceStatusUpdate`
pub fn validate_api_service(v: &mut Validation<'_>, path: &Path<'_>, new: &APIService, old: Option<&APIService>) {
    if v.context.subresource == "status" {
        return validate_status(v, &path.child("status"), &new.status);
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
    let (group, version) = (path.child("group"), path.child("version"));
    if spec.group.is_empty() {
        if spec.version != "v1" {
            v.required(&group, "only v1 may have an empty group and it better be legacy kube");
        }
    } else {
        v.malformed(&group, &spec.group, format::is_dns1123_subdomain(&spec.group));
    }
    v.malformed(&version, &spec.version, format::is_dns1035_label(&spec.version));
    for (field, priority, max) in [
        ("groupPriorityMinimum", spec.group_priority_minimum, MAX_GROUP_PRIORITY),
        ("versionPriority", spec.version_priority, MAX_VERSION_PRIORITY),
    ] {
        if !(1..=max).contains(&priority) {
            v.invalid(&path.child(field), priority, format!("must be positive and less than {max}"));
        }
    }
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

fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &APIServiceStatus) {
    let path = path.child("conditions");
    for (index, condition) in status.conditions.iter().enumerate() {
        v.one_of(&path.index(index).child("status"), &condition.status, &["True", "False", "Unknown"]);
    }
}
