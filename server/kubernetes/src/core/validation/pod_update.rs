//! What may change in a pod. By hand: the whole spec is compared with what is stored, except for what may change.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, field};
use machinery::hooks::Validation;

use super::annotations::validate_annotations_change;
use super::options::PodOptions;
use super::pod::validate_contents;
use super::tolerations::validate_tolerations;
use crate::core::internal::{internal_diff, internal_value, internal_values};
use generated::core::v1::{
    Affinity, Container, NodeAffinity, NodeSelectorTerm, Pod, PodSchedulingGate, PodSpec, Toleration,
};

/// What upstream calls the fields that may change.
const MUTABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
    `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// `ValidatePodUpdate`
pub(super) fn validate_change(v: &mut Validation<'_>, new: &Pod, old: &Pod, options: &PodOptions) {
    validate_contents(v, new, options);
    let annotations = Path::new("metadata");
    let both = (&new.metadata.annotations, &old.metadata.annotations);
    validate_annotations_change(v, &annotations.child("annotations"), both, &new.spec, options);
    let (path, new, old) = (Path::new("spec"), &new.spec, &old.spec);
    let comparable = validate_containers_change(v, &path.child("containers"), &new.containers, &old.containers)
        && validate_containers_change(v, &path.child("initContainers"), &new.init_containers, &old.init_containers)
        && validate_deadline_change(v, &path.child("activeDeadlineSeconds"), new, old);
    if !comparable {
        return;
    }
    validate_tolerations_change(v, &path.child("tolerations"), &new.tolerations, &old.tolerations, options);
    validate_gates_change(v, &path.child("schedulingGates"), &new.scheduling_gates, &old.scheduling_gates);
    if new == old {
        return;
    }
    let mut rest = without_mutable(new, old);
    if !old.scheduling_gates.is_empty() {
        validate_gated_change(v, &path, &mut rest, old);
    }
    if rest != *old {
        let change = internal_diff(&v.context.sent, &path, old, &rest);
        v.forbidden(&path, format!("{MUTABLE}\n{change}"));
    }
}

/// `ValidateContainerUpdates`; false when there is nothing to compare.
fn validate_containers_change(v: &mut Validation<'_>, path: &Path<'_>, new: &[Container], old: &[Container]) -> bool {
    if new.len() != old.len() {
        v.forbidden(path, "pod updates may not add or remove containers");
        return false;
    }
    for (index, container) in new.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("image");
        v.filled(&path, &container.image);
        v.errors.extend(field::trimmed_text(&path, &container.image));
    }
    true
}

/// A deadline may be set, and come nearer; false when it is further away.
fn validate_deadline_change(v: &mut Validation<'_>, path: &Path<'_>, new: &PodSpec, old: &PodSpec) -> bool {
    match (new.active_deadline_seconds, old.active_deadline_seconds) {
        (Some(new), _) if !(0..=i64::from(i32::MAX)).contains(&new) => {
            for message in format::is_in_range(new, 0, i64::from(i32::MAX)) {
                v.invalid(path, new, message);
            }
            return false;
        }
        (Some(new), Some(old)) if old < new => {
            v.invalid(path, new, "must be less than or equal to previous value");
            return false;
        }
        (None, Some(_)) => {
            v.invalid(path, BadValue::None, "must not update from a positive integer to nil value");
        }
        _ => {}
    }
    true
}

/// `validateOnlyAddedTolerations`
fn validate_tolerations_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &[Toleration],
    old: &[Toleration],
    options: &PodOptions,
) {
    /// What may not change.
    fn facts(toleration: &Toleration) -> (&str, &str, &str, &str) {
        let Toleration { key, operator, value, effect, toleration_seconds: _ } = toleration;
        (key, operator, value, effect)
    }
    let left: BTreeSet<_> = new.iter().map(facts).collect();
    if !old.iter().all(|old| left.contains(&facts(old))) {
        return v.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
    }
    validate_tolerations(v, path, new, options.compare_tolerations);
}

/// `validateOnlyDeletedSchedulingGates`
fn validate_gates_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &[PodSchedulingGate],
    old: &[PodSchedulingGate],
) {
    let old: BTreeSet<&str> = old.iter().map(|gate| gate.name.as_str()).collect();
    for (index, gate) in new.iter().enumerate().filter(|(_, gate)| !old.contains(gate.name.as_str())) {
        let detail = format!("only deletion is allowed, but found new scheduling gate '{}'", gate.name);
        v.forbidden(&path.index(index).child("name"), detail);
    }
}

/// The new spec with what may change as it was.
fn without_mutable(new: &PodSpec, old: &PodSpec) -> PodSpec {
    let mut rest = new.clone();
    for (container, old) in rest.containers.iter_mut().zip(&old.containers) {
        container.image = old.image.clone();
    }
    for (container, old) in rest.init_containers.iter_mut().zip(&old.init_containers) {
        container.image = old.image.clone();
    }
    rest.active_deadline_seconds = old.active_deadline_seconds;
    rest.scheduling_gates = old.scheduling_gates.clone();
    rest.tolerations = old.tolerations.clone();
    let was_negative = old.termination_grace_period_seconds.is_some_and(|seconds| seconds < 0);
    if was_negative && rest.termination_grace_period_seconds == Some(1) {
        rest.termination_grace_period_seconds = old.termination_grace_period_seconds;
    }
    rest
}

/// As long as a pod is not to be scheduled the nodes it wants may become fewer; `rest` gets what is stored.
fn validate_gated_change(v: &mut Validation<'_>, path: &Path<'_>, rest: &mut PodSpec, old: &PodSpec) {
    validate_selector_change(v, &path.child("nodeSelector"), &rest.node_selector, &old.node_selector);
    rest.node_selector = old.node_selector.clone();
    let of_nodes = |affinity: &Option<Box<Affinity>>| affinity.as_deref().and_then(|a| a.node_affinity.clone());
    let (was, is) = (of_nodes(&old.affinity), of_nodes(&rest.affinity));
    if was == is {
        return;
    }
    validate_affinity_change(v, &path.child("affinity").child("nodeAffinity"), is.as_deref(), was.as_deref());
    match (&mut rest.affinity, &old.affinity) {
        (None, _) => rest.affinity = Some(Box::new(Affinity { node_affinity: was, ..Affinity::default() })),
        (Some(new), None) if new.pod_affinity.is_none() && new.pod_anti_affinity.is_none() => rest.affinity = None,
        (Some(new), _) => new.node_affinity = was,
    }
}

/// `validateNodeSelectorMutation`
fn validate_selector_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &BTreeMap<String, String>,
    old: &BTreeMap<String, String>,
) {
    if old.iter().any(|(key, value)| new.get(key) != Some(value)) {
        let shown = BadValue::string_map(new);
        v.invalid(path, shown, "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
    }
}

/// `validateNodeAffinityMutation`
fn validate_affinity_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: Option<&NodeAffinity>,
    old: Option<&NodeAffinity>,
) {
    let path = path.child("requiredDuringSchedulingIgnoredDuringExecution");
    let path = path.child("nodeSelectorTerms");
    let (new, old) = (required_terms(new), required_terms(old));
    if !old.is_empty() && new.len() != old.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return v.invalid(&path, internal_values(new), detail);
    }
    for (index, (new, old)) in new.iter().zip(old).enumerate() {
        if !only_adds(new, old) {
            let detail = "only additions are allowed (no mutations or deletions)";
            v.invalid(&path.index(index), internal_value(new), detail);
        }
    }
}

fn required_terms(affinity: Option<&NodeAffinity>) -> &[NodeSelectorTerm] {
    let required = affinity.and_then(|a| a.required_during_scheduling_ignored_during_execution.as_deref());
    required.map_or(&[], |selector| &selector.node_selector_terms)
}

/// `validateNodeSelectorTermHasOnlyAdditions`; a term without requirements is for no node, and stays so.
fn only_adds(new: &NodeSelectorTerm, old: &NodeSelectorTerm) -> bool {
    if old.match_expressions.is_empty() && old.match_fields.is_empty() {
        return new.match_expressions.is_empty() && new.match_fields.is_empty();
    }
    new.match_expressions.starts_with(&old.match_expressions) && new.match_fields.starts_with(&old.match_fields)
}
