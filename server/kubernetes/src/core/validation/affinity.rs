//! Which other pods a pod wants to be near to, or far from, and how evenly pods are to be spread.

use std::collections::{BTreeSet, HashMap};

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;
use machinery::reflect::Ref;

use generated::core::v1::{PodAffinityTerm, PodSpec, TopologySpreadConstraint};
use generated::meta::v1::LabelSelector;
use meta::{SelectorOptions, validate_label_selector_with};

/// A selector of pods. By hand: what it may hold is an option.
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

/// Keys that creating the pod has merged into the selector (KEP-3633). By hand: upstream reports a key at the place that
/// it has among the keys, below the term.
pub fn validate_merged_keys_of_term(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    term: &PodAffinityTerm,
    _: Option<&PodAffinityTerm>,
) {
    validate_merged_keys(v, path, &term.match_label_keys, term.label_selector.as_deref());
}

/// Likewise (KEP-3243).
pub fn validate_merged_keys_of_constraint(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    constraint: &TopologySpreadConstraint,
    _: Option<&TopologySpreadConstraint>,
) {
    validate_merged_keys(v, path, &constraint.match_label_keys, constraint.label_selector.as_deref());
}

/// A key that the selector asks for twice is one that the client asks for too.
fn validate_merged_keys(v: &mut Validation<'_>, path: &Path<'_>, keys: &[String], selector: Option<&LabelSelector>) {
    let mut asked: BTreeSet<&String> = selector.iter().flat_map(|selector| selector.match_labels.keys()).collect();
    for requirement in selector.iter().flat_map(|selector| &selector.match_expressions) {
        let index = keys.iter().rposition(|key| *key == requirement.key);
        if let (Some(index), false) = (index, asked.insert(&requirement.key)) {
            v.invalid(&path.index(index), &requirement.key, "exists in both matchLabelKeys and labelSelector");
        }
    }
}

/// `validateTopologySpreadConstraints`. By hand: of constraints that repeat each other all but the last are reported.
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

/// What no two constraints have in common.
fn facts(constraint: &TopologySpreadConstraint) -> (&str, &str) {
    (&constraint.topology_key, &constraint.when_unsatisfiable)
}
