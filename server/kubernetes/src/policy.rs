//! Hand-written functions that definitions of `policy` name.
//!
//! An empty selector matches nothing in v1beta1 and everything in v1. Each version has a selector with a reserved label that means what
//! the other's empty selector means.

use apimachinery::meta::v1::label_selector_operator;
use generated::meta::v1::{LabelSelector, LabelSelectorRequirement};
use generated::policy::{v1, v1beta1};

/// The reserved label (`PDBV1beta1Label`).
const EMPTY_SELECTOR: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// What a selector is, where versions differ.
#[derive(PartialEq, Eq)]
enum Meaning {
    Empty,
    /// Reserved label `Exists`: v1's way to match nothing.
    MatchNone,
    /// Reserved label `DoesNotExist`: v1beta1's way to match all.
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

/// Keeps users from combining the reserved label with selectors of their own (upstream `StripPDBV1beta1Label`).
fn strip(selector: &mut LabelSelector) {
    selector.match_expressions.retain(|one| one.key != EMPTY_SELECTOR);
}

/// Strips the reserved label, except from v1's own way to match nothing.
pub fn normalize_pod_disruption_budget(budget: &mut v1::PodDisruptionBudget) {
    if let Some(selector) = budget.spec.selector.as_mut().filter(|s| meaning(s) != Meaning::MatchNone) {
        strip(selector);
    }
}

/// Gives the selector the form that means the same in v1.
pub fn v1beta1_pod_disruption_budget_to_hub(_: &mut v1beta1::PodDisruptionBudget, to: &mut v1::PodDisruptionBudget) {
    let Some(selector) = &mut to.spec.selector else { return };
    match meaning(selector) {
        Meaning::Empty => **selector = reserved(label_selector_operator::EXISTS),
        Meaning::MatchAll => **selector = LabelSelector::default(),
        Meaning::MatchNone | Meaning::Other => strip(selector),
    }
}

/// Gives the selector the form that means the same in v1beta1.
pub fn v1beta1_pod_disruption_budget_from_hub(_: &mut v1::PodDisruptionBudget, to: &mut v1beta1::PodDisruptionBudget) {
    let Some(selector) = &mut to.spec.selector else { return };
    match meaning(selector) {
        Meaning::MatchNone => **selector = LabelSelector::default(),
        Meaning::Empty => **selector = reserved(label_selector_operator::DOES_NOT_EXIST),
        Meaning::MatchAll | Meaning::Other => strip(selector),
    }
}
