//! Which other pods a pod wants to be near to, or far from.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;

use super::node_selector::{validate_node_affinity, validate_weight};
use super::options::PodOptions;
use generated::core::v1::{Affinity, PodAffinityTerm, WeightedPodAffinityTerm};
use generated::meta::v1::LabelSelector;
use meta::{SelectorOptions, validate_label_name, validate_label_selector_with};

/// `validateAffinity`
pub(super) fn validate_affinity(v: &mut Validation<'_>, path: &Path<'_>, affinity: &Affinity, options: &PodOptions) {
    if let Some(nodes) = affinity.node_affinity.as_deref() {
        validate_node_affinity(v, &path.child("nodeAffinity"), nodes, options.allow_invalid_values_of_nodes);
    }
    for (field, (required, preferred)) in pod_terms(affinity) {
        let path = path.child(field);
        validate_terms(v, &path.child("requiredDuringSchedulingIgnoredDuringExecution"), required, options);
        validate_weighted_terms(v, &path.child("preferredDuringSchedulingIgnoredDuringExecution"), preferred, options);
    }
}

type Terms<'a> = (&'a [PodAffinityTerm], &'a [WeightedPodAffinityTerm]);

/// The terms about pods, required and preferred ones, by field.
fn pod_terms(affinity: &Affinity) -> impl Iterator<Item = (&'static str, Terms<'_>)> {
    let near = affinity.pod_affinity.as_deref().map(|a| {
        let (required, preferred) = (
            &a.required_during_scheduling_ignored_during_execution,
            &a.preferred_during_scheduling_ignored_during_execution,
        );
        ("podAffinity", (&required[..], &preferred[..]))
    });
    let far = affinity.pod_anti_affinity.as_deref().map(|a| {
        let (required, preferred) = (
            &a.required_during_scheduling_ignored_during_execution,
            &a.preferred_during_scheduling_ignored_during_execution,
        );
        ("podAntiAffinity", (&required[..], &preferred[..]))
    });
    near.into_iter().chain(far)
}

/// All terms about pods.
pub(super) fn all_pod_terms(affinity: &Affinity) -> impl Iterator<Item = &PodAffinityTerm> {
    pod_terms(affinity)
        .flat_map(|(_, (required, preferred))| required.iter().chain(preferred.iter().map(|w| &w.pod_affinity_term)))
}

fn validate_terms(v: &mut Validation<'_>, path: &Path<'_>, terms: &[PodAffinityTerm], options: &PodOptions) {
    for (index, term) in terms.iter().enumerate() {
        validate_term(v, &path.index(index), term, options);
    }
}

fn validate_weighted_terms(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    terms: &[WeightedPodAffinityTerm],
    options: &PodOptions,
) {
    for (index, term) in terms.iter().enumerate() {
        let path = path.index(index);
        validate_weight(v, &path.child("weight"), term.weight);
        validate_term(v, &path.child("podAffinityTerm"), &term.pod_affinity_term, options);
    }
}

/// `validatePodAffinityTerm`
fn validate_term(v: &mut Validation<'_>, path: &Path<'_>, term: &PodAffinityTerm, options: &PodOptions) {
    for (field, selector) in [("labelSelector", &term.label_selector), ("namespaceSelector", &term.namespace_selector)]
    {
        if let Some(selector) = selector.as_deref() {
            let options = SelectorOptions {
                allow_invalid_values: options.allow_invalid_values_of_pods,
                ..SelectorOptions::default()
            };
            validate_label_selector_with(v, &path.child(field), selector, options);
        }
    }
    for name in &term.namespaces {
        v.name(&path.child("namespace"), name, NameRule::Dns1123Label);
    }
    let keys = LabelKeys { matching: &term.match_label_keys, mismatching: &term.mismatch_label_keys };
    keys.validate(v, path, term.label_selector.as_deref());
    let topology = path.child("topologyKey");
    if term.topology_key.is_empty() {
        v.required(&topology, "can not be empty");
    }
    validate_label_name(v, &topology, &term.topology_key);
}

/// Labels whose values are the pod's own, wanted or unwanted in others (KEP-3633).
pub(super) struct LabelKeys<'t> {
    pub matching: &'t [String],
    pub mismatching: &'t [String],
}

impl LabelKeys<'_> {
    /// `ValidateMatchLabelKeysAndMismatchLabelKeys`; the selector has the requirements made of the keys already.
    pub fn validate(&self, v: &mut Validation<'_>, path: &Path<'_>, selector: Option<&LabelSelector>) {
        let matching = path.child("matchLabelKeys");
        validate_keys(v, &matching, self.matching, selector);
        validate_keys(v, &path.child("mismatchLabelKeys"), self.mismatching, selector);
        if let Some(selector) = selector {
            self.validate_against(v, path, selector);
        }
        for (index, key) in self.matching.iter().enumerate() {
            if self.mismatching.contains(key) {
                v.invalid(&matching.index(index), key, "exists in both matchLabelKeys and mismatchLabelKeys");
            }
        }
    }

    /// A key that the selector asks for twice is one that the client asks for too.
    fn validate_against(&self, v: &mut Validation<'_>, path: &Path<'_>, selector: &LabelSelector) {
        let mut asked: BTreeSet<&String> = selector.match_labels.keys().collect();
        for requirement in &selector.match_expressions {
            let index = self.matching.iter().rposition(|key| *key == requirement.key);
            if let (Some(index), false) = (index, asked.insert(&requirement.key)) {
                v.invalid(&path.index(index), &requirement.key, "exists in both matchLabelKeys and labelSelector");
            }
        }
    }
}

/// `validateLabelKeys`
fn validate_keys(v: &mut Validation<'_>, path: &Path<'_>, keys: &[String], selector: Option<&LabelSelector>) {
    if !keys.is_empty() && selector.is_none() {
        return v.forbidden(path, "must not be specified when labelSelector is not set");
    }
    for (index, key) in keys.iter().enumerate() {
        validate_label_name(v, &path.index(index), key);
    }
}

/// Whether some selector of pods asks for a value that no label has (`hasInvalidLabelValueInAffinitySelector`).
pub(super) fn has_invalid_values_of_pods(affinity: &Affinity) -> bool {
    let selectors = all_pod_terms(affinity).flat_map(|term| [&term.label_selector, &term.namespace_selector]);
    selectors.flatten().flat_map(|selector| &selector.match_expressions).any(|r| has_invalid_values(&r.values))
}

/// Whether some required label of nodes has a value that no label has (`hasInvalidLabelValueInRequiredNodeAffinity`).
pub(super) fn has_invalid_values_of_nodes(affinity: &Affinity) -> bool {
    let nodes = affinity.node_affinity.as_deref();
    let required = nodes.and_then(|nodes| nodes.required_during_scheduling_ignored_during_execution.as_deref());
    let terms = required.map_or(&[][..], |selector| &selector.node_selector_terms);
    terms.iter().flat_map(|term| &term.match_expressions).any(|requirement| has_invalid_values(&requirement.values))
}

fn has_invalid_values(values: &[String]) -> bool {
    values.iter().any(|value| !format::is_label_value(value).is_empty())
}
