//! How evenly pods are to be spread.

use std::collections::{HashMap, HashSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};

use super::affinity::LabelKeys;
use super::options::{MatchLabelKeysRule, PodOptions};
use generated::core::v1::TopologySpreadConstraint;
use generated::meta::v1::LabelSelector;
use meta::{SelectorOptions, validate_label_name, validate_label_selector_with};

const DO_NOT_SCHEDULE: &str = "DoNotSchedule";
const ACTIONS: [&str; 2] = [DO_NOT_SCHEDULE, "ScheduleAnyway"];
const POLICIES: [&str; 2] = ["Honor", "Ignore"];

/// `validateTopologySpreadConstraints`
pub(super) fn validate_spread_constraints(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    constraints: &[TopologySpreadConstraint],
    options: &PodOptions,
) {
    let mut last = HashMap::with_capacity(constraints.len());
    for (index, constraint) in constraints.iter().enumerate() {
        last.insert((&constraint.topology_key, &constraint.when_unsatisfiable), index);
    }
    for (index, constraint) in constraints.iter().enumerate() {
        let path = path.index(index);
        let is_repeated = last[&(&constraint.topology_key, &constraint.when_unsatisfiable)] > index;
        validate_constraint(v, &path, constraint, is_repeated);
        validate_match_label_keys(v, &path, constraint, options.match_label_keys);
        if let Some(selector) = constraint.label_selector.as_deref().filter(|_| !options.allow_invalid_spread_selector)
        {
            let options = SelectorOptions::default();
            validate_label_selector_with(v, &path.child("labelSelector"), selector, options);
        }
    }
}

fn validate_constraint(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    constraint: &TopologySpreadConstraint,
    is_repeated: bool,
) {
    let (topology, action) = (&constraint.topology_key, constraint.when_unsatisfiable.as_str());
    v.positive(&path.child("maxSkew"), constraint.max_skew);
    if topology.is_empty() {
        v.required(&path.child("topologyKey"), "can not be empty");
    }
    v.one_of(&path.child("whenUnsatisfiable"), action, &ACTIONS);
    if is_repeated {
        v.duplicate(&path.child("{topologyKey, whenUnsatisfiable}"), format!("{{{topology}, {action}}}"));
    }
    if let Some(domains) = constraint.min_domains {
        let path = path.child("minDomains");
        v.positive(&path, domains);
        if action != DO_NOT_SCHEDULE {
            let detail = format!("can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}, not {action}");
            v.invalid(&path, domains, detail);
        }
    }
    for (field, policy) in
        [("nodeAffinityPolicy", &constraint.node_affinity_policy), ("nodeTaintsPolicy", &constraint.node_taints_policy)]
    {
        if let Some(unknown) = policy.as_deref().filter(|policy| !POLICIES.contains(policy)) {
            v.not_supported(&path.child(field), BadValue::json_string(unknown), &POLICIES);
        }
    }
}

fn validate_match_label_keys(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    constraint: &TopologySpreadConstraint,
    rule: MatchLabelKeysRule,
) {
    let (keys, selector) = (&constraint.match_label_keys, constraint.label_selector.as_deref());
    match rule {
        MatchLabelKeysRule::Merged => LabelKeys { matching: keys, mismatching: &[] }.validate(v, path, selector),
        MatchLabelKeysRule::Separate => validate_separate_keys(v, &path.child("matchLabelKeys"), keys, selector),
    }
}

/// `ValidateMatchLabelKeysInTopologySpread`
fn validate_separate_keys(v: &mut Validation<'_>, path: &Path<'_>, keys: &[String], selector: Option<&LabelSelector>) {
    if !keys.is_empty() && selector.is_none() {
        v.forbidden(path, "must not be specified when labelSelector is not set");
    }
    let of_labels = selector.iter().flat_map(|selector| selector.match_labels.keys());
    let of_expressions = selector.iter().flat_map(|selector| selector.match_expressions.iter().map(|r| &r.key));
    let asked: HashSet<&String> = of_labels.chain(of_expressions).collect();
    for (index, key) in keys.iter().enumerate() {
        let path = path.index(index);
        validate_label_name(v, &path, key);
        if asked.contains(key) {
            v.invalid(&path, key, "exists in both matchLabelKeys and labelSelector");
        }
    }
}

/// Whether a stored constraint breaks a rule for its keys.
pub(super) fn breaks_rule(
    context: &Context,
    constraints: &[TopologySpreadConstraint],
    rule: MatchLabelKeysRule,
) -> bool {
    let errors = &mut Vec::new();
    let mut v = Validation::new(context, errors);
    constraints.iter().for_each(|constraint| validate_match_label_keys(&mut v, &Path::NONE, constraint, rule));
    !errors.is_empty()
}

/// Whether a stored constraint has a malformed selector (`hasInvalidTopologySpreadConstraintLabelSelector`).
pub(super) fn has_invalid_selector(context: &Context, constraints: &[TopologySpreadConstraint]) -> bool {
    let errors = &mut Vec::new();
    let mut v = Validation::new(context, errors);
    for selector in constraints.iter().filter_map(|constraint| constraint.label_selector.as_deref()) {
        validate_label_selector_with(&mut v, &Path::NONE, selector, SelectorOptions::default());
    }
    !errors.is_empty()
}
