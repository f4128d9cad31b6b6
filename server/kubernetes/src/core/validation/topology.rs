//! How evenly pods are to be spread.

use std::collections::{HashMap, HashSet};

use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};
use machinery::options;
use machinery::reflect::Ref;

use super::affinity::LabelKeys;
use super::options::MatchLabelKeysRule;
use generated::core::v1::{PodSpec, TopologySpreadConstraint};
use generated::meta::v1::LabelSelector;
use meta::{SelectorOptions, validate_label_name, validate_label_selector_with};

/// `validateTopologySpreadConstraints`. By hand: of constraints that repeat each other all but the last are reported,
/// and
/// keys of labels are compared with the selector.
pub fn validate_spread_constraints(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, _: Option<&PodSpec>) {
    let (path, constraints) = (path.child("topologySpreadConstraints"), &spec.topology_spread_constraints);
    let separate = v.has_option(options::SEPARATE_LABEL_KEYS);
    let rule = if separate { MatchLabelKeysRule::Separate } else { MatchLabelKeysRule::Merged };
    let any_selector = v.has_option(options::ANY_SPREAD_SELECTOR);
    let mut last = HashMap::with_capacity(constraints.len());
    for (index, constraint) in constraints.iter().enumerate() {
        last.insert((&constraint.topology_key, &constraint.when_unsatisfiable), index);
    }
    for (index, constraint) in constraints.iter().enumerate() {
        let path = path.index(index);
        v.checks(&path, Ref::of(constraint), None);
        let (topology, action) = (&constraint.topology_key, &constraint.when_unsatisfiable);
        if last[&(topology, action)] > index {
            v.duplicate(&path.child("{topologyKey, whenUnsatisfiable}"), format!("{{{topology}, {action}}}"));
        }
        v.checks_of("domains", &path, Ref::of(constraint), None);
        validate_match_label_keys(v, &path, constraint, rule);
        if let Some(selector) = constraint.label_selector.as_deref().filter(|_| !any_selector) {
            let options = SelectorOptions::default();
            validate_label_selector_with(v, &path.child("labelSelector"), selector, options);
        }
    }
}

/// By hand: the message tells what was asked for instead.
pub fn validate_domains(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    constraint: &TopologySpreadConstraint,
    _: Option<&TopologySpreadConstraint>,
) {
    let action = &constraint.when_unsatisfiable;
    let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
    v.invalid(&path.child("minDomains"), constraint.min_domains.unwrap_or_default(), detail);
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
