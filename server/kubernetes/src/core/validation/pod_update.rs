//! Hand-written validation of pod updates.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;

use crate::core::internal::{internal_diff, internal_value, internal_values};
use generated::core::v1::{Affinity, NodeAffinity, NodeSelectorTerm, PodSpec, Toleration};

/// Upstream's message, which lists the mutable fields.
const MUTABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
    `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),\
    `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
const MAX_DEADLINE: i64 = i32::MAX as i64;

/// Checks that a deadline is only added or decreased. Hand-written, because an increased deadline
/// suppresses all other comparisons.
pub fn validate_deadline_change(v: &mut Validation<'_>, path: &Path<'_>, new: &PodSpec, old: Option<&PodSpec>) {
    let path = path.child(json_name!(PodSpec.active_deadline_seconds));
    let before = old.and_then(|old| old.active_deadline_seconds);
    let refusal = match (new.active_deadline_seconds, before) {
        (Some(new), _) if !(0..=MAX_DEADLINE).contains(&new) => "must be between 0 and 2147483647, inclusive",
        (Some(new), Some(old)) if old < new => "must be less than or equal to previous value",
        (None, Some(_)) => {
            return v.invalid(&path, BadValue::None, "must not update from a positive integer to nil value");
        }
        _ => return,
    };
    v.invalid(&path, new.active_deadline_seconds.unwrap_or_default(), refusal);
    v.set_option(options::COMPARABLE, false);
}

/// `validateOnlyAddedTolerations`. Hand-written, because old tolerations are searched among the new
/// ones, apart from their seconds.
pub fn validate_tolerations_change(v: &mut Validation<'_>, path: &Path<'_>, new: &PodSpec, old: Option<&PodSpec>) {
    /// The immutable attributes.
    fn facts(toleration: &Toleration) -> (&str, &str, &str, &str) {
        let Toleration { key, operator, value, effect, toleration_seconds: _ } = toleration;
        (key, operator, value, effect)
    }
    let path = path.child(json_name!(PodSpec.tolerations));
    let left: BTreeSet<_> = new.tolerations.iter().map(facts).collect();
    if !old.iter().flat_map(|old| &old.tolerations).all(|old| left.contains(&facts(old))) {
        return v.forbidden(&path, "existing toleration can not be modified except its tolerationSeconds");
    }
    v.checks_of_items(&path, &new.tolerations);
}

/// Validates all other changes. Hand-written, because the whole spec is compared with the stored one,
/// except for mutable fields.
pub fn validate_other_changes(v: &mut Validation<'_>, path: &Path<'_>, new: &PodSpec, old: Option<&PodSpec>) {
    let Some(old) = old.filter(|old| *old != new) else { return };
    let mut rest = without_mutable(new, old);
    if !old.scheduling_gates.is_empty() {
        validate_gated_change(v, path, &mut rest, old);
    }
    if rest != *old {
        let change = internal_diff(&v.context.sent, path, old, &rest);
        v.forbidden(path, format!("{MUTABLE}\n{change}"));
    }
}

/// The new spec with mutable fields reset to the stored values.
fn without_mutable(new: &PodSpec, old: &PodSpec) -> PodSpec {
    let mut rest = new.clone();
    for (new, old) in [(&mut rest.containers, &old.containers), (&mut rest.init_containers, &old.init_containers)] {
        new.iter_mut().zip(old).for_each(|(new, old)| new.image.clone_from(&old.image));
    }
    rest.active_deadline_seconds = old.active_deadline_seconds;
    rest.scheduling_gates.clone_from(&old.scheduling_gates);
    rest.tolerations.clone_from(&old.tolerations);
    let was_negative = old.termination_grace_period_seconds.is_some_and(|seconds| seconds < 0);
    if was_negative && rest.termination_grace_period_seconds == Some(1) {
        rest.termination_grace_period_seconds = old.termination_grace_period_seconds;
    }
    rest
}

/// Validates changes of a pod with scheduling gates, whose set of possible nodes may shrink; sets the
/// changed fields in `rest` to the stored values.
fn validate_gated_change(v: &mut Validation<'_>, path: &Path<'_>, rest: &mut PodSpec, old: &PodSpec) {
    if old.node_selector.iter().any(|(key, value)| rest.node_selector.get(key) != Some(value)) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        v.invalid(&path.child(json_name!(PodSpec.node_selector)), BadValue::string_map(&rest.node_selector), detail);
    }
    rest.node_selector.clone_from(&old.node_selector);
    let of_nodes = |affinity: &Option<Box<Affinity>>| affinity.as_deref().and_then(|a| a.node_affinity.clone());
    let (was, is) = (of_nodes(&old.affinity), of_nodes(&rest.affinity));
    if was == is {
        return;
    }
    validate_affinity_change(
        v,
        &path.child(json_name!(PodSpec.affinity)).child(json_name!(Affinity.node_affinity)),
        is.as_deref(),
        was.as_deref(),
    );
    match (&mut rest.affinity, &old.affinity) {
        (None, _) => rest.affinity = Some(Box::new(Affinity { node_affinity: was, ..Affinity::default() })),
        (Some(new), None) if new.pod_affinity.is_none() && new.pod_anti_affinity.is_none() => rest.affinity = None,
        (Some(new), _) => new.node_affinity = was,
    }
}

/// `validateNodeAffinityMutation`
fn validate_affinity_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: Option<&NodeAffinity>,
    old: Option<&NodeAffinity>,
) {
    let path = path.child("requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
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

/// `validateNodeSelectorTermHasOnlyAdditions`; a term without requirements selects no node, and has to
/// stay unchanged.
fn only_adds(new: &NodeSelectorTerm, old: &NodeSelectorTerm) -> bool {
    if old.match_expressions.is_empty() && old.match_fields.is_empty() {
        return new.match_expressions.is_empty() && new.match_fields.is_empty();
    }
    new.match_expressions.starts_with(&old.match_expressions) && new.match_fields.starts_with(&old.match_fields)
}
