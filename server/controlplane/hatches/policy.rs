//! Hand-written functions that definitions of `policy` name.

pub fn normalize_pod_disruption_budget(_: &mut crate::policy::v1::PodDisruptionBudget) {}
pub fn v1beta1_pod_disruption_budget_from_hub(_: &mut crate::policy::v1::PodDisruptionBudget, _: &mut crate::policy::v1beta1::PodDisruptionBudget) {}
pub fn v1beta1_pod_disruption_budget_to_hub(_: &mut crate::policy::v1beta1::PodDisruptionBudget, _: &mut crate::policy::v1::PodDisruptionBudget) {}
