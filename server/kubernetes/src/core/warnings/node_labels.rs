//! Warnings about deprecated node labels (`pkg/api/node/util.go`).

use machinery::field_path::Path;
use machinery::format::is_label_value;
use machinery::json_name;

use generated::core::v1::{
    Affinity, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, PreferredSchedulingTerm,
};

/// The warning about a deprecated label.
pub(crate) fn deprecation(label: &str) -> Option<&'static str> {
    Some(match label {
        "beta.kubernetes.io/arch" => r#"deprecated since v1.14; use "kubernetes.io/arch" instead"#,
        "beta.kubernetes.io/os" => r#"deprecated since v1.14; use "kubernetes.io/os" instead"#,
        "failure-domain.beta.kubernetes.io/region" => {
            r#"deprecated since v1.17; use "topology.kubernetes.io/region" instead"#
        }
        "failure-domain.beta.kubernetes.io/zone" => {
            r#"deprecated since v1.17; use "topology.kubernetes.io/zone" instead"#
        }
        "beta.kubernetes.io/instance-type" => {
            r#"deprecated since v1.17; use "node.kubernetes.io/instance-type" instead"#
        }
        "app.kubernetes.io/created-by" => "deprecated since v1.9",
        "scheduler.alpha.kubernetes.io/preferAvoidPods" => "deprecated since v1.22; use Taints and Tolerations instead",
        "node-role.kubernetes.io/master" => r#"use "node-role.kubernetes.io/control-plane" instead"#,
        _ => return None,
    })
}

/// Warnings about labels in the node selection of a pod.
pub(super) fn warn(path: &Path<'_>, spec: &PodSpec, out: &mut Vec<String>) {
    let selector = path.child(json_name!(PodSpec.node_selector));
    for label in spec.node_selector.keys() {
        out.extend(deprecation(label).map(|why| format!("{}: {why}", selector.key(label))));
    }
    let affinity = spec.affinity.as_deref().and_then(|affinity| affinity.node_affinity.as_deref());
    let Some(affinity) = affinity else { return };
    let path = path.child(json_name!(PodSpec.affinity));
    let path = path.child(json_name!(Affinity.node_affinity));
    if let Some(required) = affinity.required_during_scheduling_ignored_during_execution.as_deref() {
        let path = path.child(json_name!(NodeAffinity.required_during_scheduling_ignored_during_execution));
        let path = path.child(json_name!(NodeSelector.node_selector_terms));
        for (index, term) in required.node_selector_terms.iter().enumerate() {
            out.extend(warnings_of_term(&path.index(index), term, false));
        }
    }
    let path = path.child(json_name!(NodeAffinity.preferred_during_scheduling_ignored_during_execution));
    for (index, term) in affinity.preferred_during_scheduling_ignored_during_execution.iter().enumerate() {
        out.extend(warnings_of_term(
            &path.index(index).child(json_name!(PreferredSchedulingTerm.preference)),
            &term.preference,
            true,
        ));
    }
}

/// `GetWarningsForNodeSelectorTerm`; `values` also checks for invalid label values.
pub(crate) fn warnings_of_term(path: &Path<'_>, term: &NodeSelectorTerm, values: bool) -> Vec<String> {
    let path = path.child(json_name!(NodeSelectorTerm.match_expressions));
    let mut out = Vec::new();
    for (index, requirement) in term.match_expressions.iter().enumerate() {
        let (path, key) = (path.index(index), &requirement.key);
        out.extend(
            deprecation(key)
                .map(|why| format!("{}: {key} is {why}", path.child(json_name!(NodeSelectorRequirement.key)))),
        );
        for (index, value) in requirement.values.iter().enumerate().filter(|_| values) {
            let path = path.child(json_name!(NodeSelectorRequirement.values));
            let path = path.index(index);
            out.extend(is_label_value(value).into_iter().map(|why| format!("{path}: {value} is invalid, {why}")));
        }
    }
    out
}
