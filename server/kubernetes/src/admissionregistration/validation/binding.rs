//! Bindings of policies.

use std::collections::HashSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;
use meta::validate_label_selector;

use super::rules::{refuse_deletes, validate_match_resources};
use generated::admissionregistration::v1::{
    MutatingAdmissionPolicyBinding, ParamRef, ValidatingAdmissionPolicyBinding,
};

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
const NOT_FOUND_ACTIONS: [&str; 2] = ["Deny", "Allow"];

/// `ValidateValidatingAdmissionPolicyBinding`
pub fn validate_validating_binding(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ValidatingAdmissionPolicyBinding,
    _: Option<&ValidatingAdmissionPolicyBinding>,
) {
    let (path, spec) = (Path::new("spec"), &new.spec);
    validate_policy_name(v, &path.child("policyName"), &spec.policy_name);
    if let Some(reference) = spec.param_ref.as_deref() {
        validate_param_ref(v, &path.child("paramRef"), reference);
    }
    if let Some(resources) = spec.match_resources.as_deref() {
        validate_match_resources(v, &path.child("matchResources"), resources);
    }
    validate_actions(v, &path.child("validationActions"), &spec.validation_actions);
}

/// `ValidateMutatingAdmissionPolicyBinding`
pub fn validate_mutating_binding(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &MutatingAdmissionPolicyBinding,
    _: Option<&MutatingAdmissionPolicyBinding>,
) {
    let (path, spec) = (Path::new("spec"), &new.spec);
    validate_policy_name(v, &path.child("policyName"), &spec.policy_name);
    if let Some(reference) = spec.param_ref.as_deref() {
        validate_param_ref(v, &path.child("paramRef"), reference);
    }
    if let Some(resources) = spec.match_resources.as_deref() {
        let path = path.child("matchResources");
        validate_match_resources(v, &path, resources);
        refuse_deletes(v, &path, resources);
    }
}

fn validate_policy_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    v.filled(path, name);
    v.malformed_name(path, name, NameRule::Dns1123Subdomain, false);
}

/// `validateParamRef`
fn validate_param_ref(v: &mut Validation<'_>, path: &Path<'_>, reference: &ParamRef) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let (named, selector) = (!reference.name.is_empty(), reference.selector.as_deref());
    if named {
        let path = path.child("name");
        v.malformed(&path, &reference.name, format::is_path_segment_name(&reference.name));
        if selector.is_some() {
            v.forbidden(&path, EXCLUSIVE);
        }
    }
    if let Some(selector) = selector {
        let path = path.child("selector");
        validate_label_selector(v, &path, selector, None);
        if named {
            v.forbidden(&path, EXCLUSIVE);
        }
    }
    if !named && selector.is_none() {
        v.required(path, "one of name or selector must be specified");
    }
    let action = reference.parameter_not_found_action.as_deref().unwrap_or_default();
    v.required_one_of(&path.child("parameterNotFoundAction"), action, &NOT_FOUND_ACTIONS);
}

/// `validateValidationActions`
fn validate_actions(v: &mut Validation<'_>, path: &Path<'_>, actions: &[String]) {
    let mut seen = HashSet::new();
    for (index, action) in actions.iter().enumerate() {
        let path = path.index(index);
        v.one_of(&path, action, &ACTIONS);
        if !seen.insert(action.as_str()) {
            v.duplicate(&path, BadValue::json_string(action));
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let shown = BadValue::strings(actions);
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        v.invalid(path, shown, detail);
    }
    if actions.is_empty() {
        v.required(path, "at least one validation action is required");
    }
}
