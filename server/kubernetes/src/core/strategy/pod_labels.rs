//! Label keys in selectors of a pod that refer to the pod's own labels (KEP-3633, KEP-3243). On create,
//! the requirements are added to the selectors.

use std::collections::BTreeMap;

use apimachinery::meta::v1::label_selector_operator;
use machinery::features;
use machinery::hooks::WriteContext;

use generated::core::v1::{Pod, PodAffinityTerm};
use generated::meta::v1::{LabelSelector, LabelSelectorRequirement};

/// Mirrors `mutatePodAffinity` and `mutateTopologySpreadConstraints`.
pub(super) fn merge_label_keys(context: &WriteContext, pod: &mut Pod) {
    let (labels, spec) = (&pod.metadata.labels, &mut pod.spec);
    if let Some(affinity) = spec.affinity.as_deref_mut() {
        let near = affinity.pod_affinity.as_deref_mut().map(|a| {
            let preferred = &mut a.preferred_during_scheduling_ignored_during_execution;
            (&mut a.required_during_scheduling_ignored_during_execution, preferred)
        });
        let far = affinity.pod_anti_affinity.as_deref_mut().map(|a| {
            let preferred = &mut a.preferred_during_scheduling_ignored_during_execution;
            (&mut a.required_during_scheduling_ignored_during_execution, preferred)
        });
        for (required, preferred) in near.into_iter().chain(far) {
            let preferred = preferred.iter_mut().map(|weighted| &mut weighted.pod_affinity_term);
            required.iter_mut().chain(preferred).for_each(|term| merge_term(term, labels));
        }
    }
    let merged = context.enabled(features::MatchLabelKeysInPodTopologySpread)
        && context.enabled(features::MatchLabelKeysInPodTopologySpreadSelectorMerge);
    for constraint in spec.topology_spread_constraints.iter_mut().filter(|_| merged) {
        if let Some(selector) = constraint.label_selector.as_deref_mut() {
            merge(selector, &constraint.match_label_keys, label_selector_operator::IN, labels);
        }
    }
}

fn merge_term(term: &mut PodAffinityTerm, labels: &BTreeMap<String, String>) {
    if let Some(selector) = term.label_selector.as_deref_mut() {
        merge(selector, &term.match_label_keys, label_selector_operator::IN, labels);
        merge(selector, &term.mismatch_label_keys, label_selector_operator::NOT_IN, labels);
    }
}

fn merge(selector: &mut LabelSelector, keys: &[String], operator: &str, labels: &BTreeMap<String, String>) {
    let own = keys.iter().filter_map(|key| labels.get_key_value(key));
    selector.match_expressions.extend(own.map(|(key, value)| LabelSelectorRequirement {
        key: key.clone(),
        operator: operator.into(),
        values: vec![value.clone()],
    }));
}
