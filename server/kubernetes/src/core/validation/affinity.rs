//! Which other pods a pod wants to be near to, or far from.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use machinery::options;

use generated::core::v1::{Affinity, PodAffinityTerm, WeightedPodAffinityTerm};
use generated::meta::v1::LabelSelector;
use meta::{SelectorOptions, validate_label_name, validate_label_selector_with};

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

/// By hand: keys of labels are compared with the selector.
pub fn validate_label_keys_of_term(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    term: &PodAffinityTerm,
    _: Option<&PodAffinityTerm>,
) {
    let keys = LabelKeys { matching: &term.match_label_keys, mismatching: &term.mismatch_label_keys };
    keys.validate(v, path, term.label_selector.as_deref());
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
