//! Hand-written functions that definitions of `policy` refer to.
//!
//! An empty selector matches nothing in v1beta1 and everything in v1. Each version represents the
//! other's empty selector by a selector with a reserved label.

use apimachinery::meta::v1::label_selector_operator;
use generated::meta::v1::{LabelSelector, LabelSelectorRequirement};
use generated::policy::{v1, v1beta1};

/// The reserved label (`PDBV1beta1Label`).
const EMPTY_SELECTOR: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// Meaning of a selector, where versions differ.
#[derive(PartialEq, Eq)]
enum Meaning {
    Empty,
    /// Reserved label `Exists`: matches nothing in v1.
    MatchNone,
    /// Reserved label `DoesNotExist`: matches everything in v1beta1.
    MatchAll,
    Other,
}

fn meaning(selector: &LabelSelector) -> Meaning {
    match &*selector.match_expressions {
        _ if !selector.match_labels.is_empty() => Meaning::Other,
        [] => Meaning::Empty,
        [one] if one.key == EMPTY_SELECTOR && one.values.is_empty() => match &*one.operator {
            label_selector_operator::EXISTS => Meaning::MatchNone,
            label_selector_operator::DOES_NOT_EXIST => Meaning::MatchAll,
            _ => Meaning::Other,
        },
        _ => Meaning::Other,
    }
}

fn reserved(operator: &str) -> LabelSelector {
    let (key, operator) = (EMPTY_SELECTOR.to_owned(), operator.to_owned());
    let requirement = LabelSelectorRequirement { key, operator, ..Default::default() };
    LabelSelector { match_expressions: vec![requirement], ..Default::default() }
}

/// Removes the reserved label, which users must not combine with other selectors (upstream
/// `StripPDBV1beta1Label`).
fn strip(selector: &mut LabelSelector) {
    selector.match_expressions.retain(|one| one.key != EMPTY_SELECTOR);
}

/// Removes the reserved label, except from v1's selector that matches nothing.
pub fn normalize_pod_disruption_budget(budget: &mut v1::PodDisruptionBudget) {
    if let Some(selector) = budget.spec.selector.as_mut().filter(|s| meaning(s) != Meaning::MatchNone) {
        strip(selector);
    }
}

/// Converts the selector to one with the same meaning in v1.
pub fn v1beta1_pod_disruption_budget_to_hub(_: &mut v1beta1::PodDisruptionBudget, to: &mut v1::PodDisruptionBudget) {
    let Some(selector) = &mut to.spec.selector else { return };
    match meaning(selector) {
        Meaning::Empty => **selector = reserved(label_selector_operator::EXISTS),
        Meaning::MatchAll => **selector = LabelSelector::default(),
        Meaning::MatchNone | Meaning::Other => strip(selector),
    }
}

/// Converts the selector to one with the same meaning in v1beta1.
pub fn v1beta1_pod_disruption_budget_from_hub(_: &mut v1::PodDisruptionBudget, to: &mut v1beta1::PodDisruptionBudget) {
    let Some(selector) = &mut to.spec.selector else { return };
    match meaning(selector) {
        Meaning::MatchNone => **selector = LabelSelector::default(),
        Meaning::Empty => **selector = reserved(label_selector_operator::DOES_NOT_EXIST),
        Meaning::MatchAll | Meaning::Other => strip(selector),
    }
}
