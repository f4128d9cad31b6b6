//! Ingress classes.

use apimachinery::hatches::meta::validate_whole_object_meta;
use machinery::field_path::Path;
use machinery::format::field::domain_prefixed_path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;

use crate::networking::v1::{IngressClass, IngressClassParametersReference};

const MAX_CONTROLLER: usize = 250;
const CLUSTER: &str = "Cluster";
const NAMESPACE: &str = "Namespace";

/// `ValidateIngressClass`, `ValidateIngressClassUpdate`
pub fn validate_ingress_class(v: &mut Validation<'_>, _: &Path<'_>, new: &IngressClass, old: Option<&IngressClass>) {
    let path = Path::new("spec");
    let (at, controller) = (path.child("controller"), &new.spec.controller);
    if old.is_some_and(|old| old.spec.controller != *controller) {
        v.invalid(&at, controller, "field is immutable");
    }
    if old.is_some() {
        validate_whole_object_meta(v, &new.metadata, false, NameRule::Dns1123Subdomain);
    }
    if controller.len() > MAX_CONTROLLER {
        v.too_long(&at, MAX_CONTROLLER);
    }
    v.errors.extend(domain_prefixed_path(&at, controller));
    if let Some(parameters) = new.spec.parameters.as_deref() {
        validate_parameters(v, &path.child("parameters"), parameters);
    }
}

fn validate_parameters(v: &mut Validation<'_>, path: &Path<'_>, parameters: &IngressClassParametersReference) {
    let named = (parameters.api_group.as_deref(), parameters.kind.as_str(), parameters.name.as_str());
    validate_reference(v, path, named);
    let (scope_path, path) = (path.child("scope"), path.child("namespace"));
    match (parameters.scope.as_deref(), &parameters.namespace) {
        (None, _) => v.required(&scope_path, ""),
        (Some(NAMESPACE), None) => v.required(&path, "`parameters.scope` is set to 'Namespace'"),
        (Some(NAMESPACE), Some(namespace)) => v.name(&path, namespace, NameRule::Dns1123Label),
        (Some(CLUSTER), Some(_)) => v.forbidden(&path, "`parameters.scope` is set to 'Cluster'"),
        (Some(CLUSTER), None) => {}
        (Some(scope), _) => v.not_supported(&scope_path, scope, &[CLUSTER, NAMESPACE]),
    }
}

/// A reference to an object of any kind, by group, kind and name (`validateIngressTypedLocalObjectReference`).
pub(super) fn validate_reference(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    (group, kind, name): (Option<&str>, &str, &str),
) {
    if let Some(group) = group {
        v.malformed(&path.child("apiGroup"), group, format::is_dns1123_subdomain(group));
    }
    for (field, text) in [("kind", kind), ("name", name)] {
        let path = path.child(field);
        v.filled(&path, text);
        v.malformed_name(&path, text, NameRule::PathSegment, false);
    }
}
