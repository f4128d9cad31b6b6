//! Which nodes will do: by labels, and by fields.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;

use generated::core::v1::{
    NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm,
};
use meta::validate_label_name;

const UNKNOWN_OPERATOR: &str = "not a valid selector operator";

/// `ValidateNodeSelector`; stored ones may hold values that no label has.
pub fn validate_node_selector(v: &mut Validation<'_>, path: &Path<'_>, selector: &NodeSelector, any_values: bool) {
    let path = path.child("nodeSelectorTerms");
    if selector.node_selector_terms.is_empty() {
        v.required(&path, "must have at least one node selector term");
    }
    for (index, term) in selector.node_selector_terms.iter().enumerate() {
        validate_term(v, &path.index(index), term, any_values);
    }
}

/// `validateNodeAffinity`
pub(super) fn validate_node_affinity(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    affinity: &NodeAffinity,
    any_values: bool,
) {
    if let Some(selector) = affinity.required_during_scheduling_ignored_during_execution.as_deref() {
        let path = path.child("requiredDuringSchedulingIgnoredDuringExecution");
        validate_node_selector(v, &path, selector, any_values);
    }
    let path = path.child("preferredDuringSchedulingIgnoredDuringExecution");
    validate_preferred_terms(v, &path, &affinity.preferred_during_scheduling_ignored_during_execution);
}

/// `ValidatePreferredSchedulingTerms`; a preference may be for what no node has.
fn validate_preferred_terms(v: &mut Validation<'_>, path: &Path<'_>, terms: &[PreferredSchedulingTerm]) {
    for (index, term) in terms.iter().enumerate() {
        let path = path.index(index);
        validate_weight(v, &path.child("weight"), term.weight);
        validate_term(v, &path.child("preference"), &term.preference, true);
    }
}

/// How much a preference counts.
pub(super) fn validate_weight(v: &mut Validation<'_>, path: &Path<'_>, weight: i32) {
    if !(1..=100).contains(&weight) {
        v.invalid(path, weight, "must be in the range 1-100");
    }
}

/// `ValidateNodeSelectorTerm`
pub fn validate_term(v: &mut Validation<'_>, path: &Path<'_>, term: &NodeSelectorTerm, any_values: bool) {
    let labels = path.child("matchExpressions");
    for (index, requirement) in term.match_expressions.iter().enumerate() {
        validate_requirement(v, &labels.index(index), requirement, any_values);
    }
    let fields = path.child("matchFields");
    for (index, requirement) in term.match_fields.iter().enumerate() {
        validate_field_requirement(v, &fields.index(index), requirement);
    }
}

/// `ValidateNodeSelectorRequirement`
fn validate_requirement(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    requirement: &NodeSelectorRequirement,
    any_values: bool,
) {
    let (values, given) = (path.child("values"), requirement.values.len());
    match requirement.operator.as_str() {
        "In" | "NotIn" if given == 0 => {
            v.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if given > 0 => {
            v.forbidden(&values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        "Gt" | "Lt" if given != 1 => {
            v.required(&values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        unknown => v.invalid(&path.child("operator"), BadValue::json_string(unknown), UNKNOWN_OPERATOR),
    }
    validate_label_name(v, &path.child("key"), &requirement.key);
    if !any_values {
        for (index, value) in requirement.values.iter().enumerate() {
            v.malformed(&values.index(index), value, format::is_label_value(value));
        }
    }
}

/// `ValidateNodeFieldSelectorRequirement`; the name is the only field.
fn validate_field_requirement(v: &mut Validation<'_>, path: &Path<'_>, requirement: &NodeSelectorRequirement) {
    let values = path.child("values");
    match requirement.operator.as_str() {
        "In" | "NotIn" if requirement.values.len() != 1 => {
            v.required(&values, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
        }
        "In" | "NotIn" => {}
        unknown => v.invalid(&path.child("operator"), BadValue::json_string(unknown), UNKNOWN_OPERATOR),
    }
    if requirement.key != "metadata.name" {
        return v.invalid(&path.child("key"), &requirement.key, "not a valid field selector key");
    }
    for (index, name) in requirement.values.iter().enumerate() {
        v.name(&values.index(index), name, NameRule::Dns1123Subdomain);
    }
}
