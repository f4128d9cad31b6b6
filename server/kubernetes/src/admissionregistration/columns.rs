//! Printed columns of `admissionregistration` that are computed: the functions of `by_hand = ..` in its definitions.

use apimachinery::meta::v1::LabelSelector;
use machinery::print::{Cell, PrintContext};

use generated::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ParamKind, ParamRef, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
};

const UNSET: &str = "<unset>";

pub fn mutating_admission_policy_binding_param_ref(binding: &MutatingAdmissionPolicyBinding, _: &PrintContext) -> Cell {
    param_ref(binding.spec.param_ref.as_deref())
}

pub fn mutating_admission_policy_param_kind(policy: &MutatingAdmissionPolicy, _: &PrintContext) -> Cell {
    param_kind(policy.spec.param_kind.as_deref())
}

pub fn validating_admission_policy_binding_param_ref(
    binding: &ValidatingAdmissionPolicyBinding,
    _: &PrintContext,
) -> Cell {
    param_ref(binding.spec.param_ref.as_deref())
}

pub fn validating_admission_policy_param_kind(policy: &ValidatingAdmissionPolicy, _: &PrintContext) -> Cell {
    param_kind(policy.spec.param_kind.as_deref())
}

fn param_kind(kind: Option<&ParamKind>) -> Cell {
    kind.map_or(UNSET.into(), |kind| format!("{}/{}", kind.api_version, kind.kind).into())
}

fn param_ref(param_ref: Option<&ParamRef>) -> Cell {
    match param_ref {
        Some(ParamRef { name, namespace, .. }) if !name.is_empty() => {
            let namespace = if namespace.is_empty() { "*" } else { namespace };
            format!("{namespace}/{name}").into()
        }
        Some(ParamRef { selector: Some(selector), .. }) => selector_text(selector).into(),
        _ => UNSET.into(),
    }
}

/// A selector in Go's struct syntax, as the recorded server prints it here, not as `k=v`.
fn selector_text(selector: &LabelSelector) -> String {
    let labels: String = selector.match_labels.iter().map(|(k, v)| format!("{k}: {v},")).collect();
    let expressions: String = selector
        .match_expressions
        .iter()
        .map(|e| {
            let values = e.values.join(" ");
            format!("LabelSelectorRequirement{{Key:{},Operator:{},Values:[{values}],}},", e.key, e.operator)
        })
        .collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}
