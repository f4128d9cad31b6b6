//! Validation of pod affinity and topology spread constraints.

use std::collections::{BTreeSet, HashMap};

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;
use machinery::reflect::Ref;

use generated::core::v1::{PodAffinityTerm, PodSpec, TopologySpreadConstraint};
use generated::meta::v1::LabelSelector;
use meta::{SelectorOptions, validate_label_selector_with};

/// Validates a selector of pods. Hand-written, because allowed values depend on an option.
pub fn validate_selector_of_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &LabelSelector,
    _: Option<&LabelSelector>,
) {
    let allow_invalid_values = v.has_option(options::ANY_VALUES_OF_PODS);
    let options = SelectorOptions { allow_invalid_values, ..SelectorOptions::default() };
    validate_label_selector_with(v, path, selector, options);
}

/// Validates keys that were merged into the selector when the pod was created (KEP-3633). Hand-written,
/// because upstream reports a key at its index in the list of keys, below the term.
pub fn validate_merged_keys_of_term(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    term: &PodAffinityTerm,
    _: Option<&PodAffinityTerm>,
) {
    validate_merged_keys(v, path, &term.match_label_keys, term.label_selector.as_deref());
}

/// The same for topology spread constraints (KEP-3243).
pub fn validate_merged_keys_of_constraint(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    constraint: &TopologySpreadConstraint,
    _: Option<&TopologySpreadConstraint>,
) {
    validate_merged_keys(v, path, &constraint.match_label_keys, constraint.label_selector.as_deref());
}

/// Reports a key that the selector requires twice: the client's selector uses the key too.
fn validate_merged_keys(v: &mut Validation<'_>, path: &Path<'_>, keys: &[String], selector: Option<&LabelSelector>) {
    let mut required_keys: BTreeSet<&String> =
        selector.iter().flat_map(|selector| selector.match_labels.keys()).collect();
    for requirement in selector.iter().flat_map(|selector| &selector.match_expressions) {
        let index = keys.iter().rposition(|key| *key == requirement.key);
        if let (Some(index), false) = (index, required_keys.insert(&requirement.key)) {
            v.invalid(&path.index(index), &requirement.key, "exists in both matchLabelKeys and labelSelector");
        }
    }
}

/// `validateTopologySpreadConstraints`. Hand-written, because all but the last of repeated constraints
/// are reported.
pub fn validate_spread_constraints(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    let (path, constraints) =
        (path.child(json_name!(PodSpec.topology_spread_constraints)), &spec.topology_spread_constraints);
    let last: HashMap<_, usize> = constraints.iter().enumerate().map(|(index, c)| (facts(c), index)).collect();
    for (index, constraint) in constraints.iter().enumerate() {
        let path = path.index(index);
        v.checks(&path, Ref::of(constraint), None);
        let (topology, action) = facts(constraint);
        if last[&(topology, action)] > index {
            v.duplicate(&path.child("{topologyKey, whenUnsatisfiable}"), format!("{{{topology}, {action}}}"));
        }
        v.checks_of("rest", &path, Ref::of(constraint), None);
    }
}

/// The attributes that identify a constraint.
fn facts(constraint: &TopologySpreadConstraint) -> (&str, &str) {
    (&constraint.topology_key, &constraint.when_unsatisfiable)
}
