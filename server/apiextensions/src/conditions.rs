//! Conditions of definitions.

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionCondition};
use machinery::scalar::Time;

pub const ESTABLISHED: &str = "Established";
pub const NAMES_ACCEPTED: &str = "NamesAccepted";
pub const TERMINATING: &str = "Terminating";
pub const NON_STRUCTURAL_SCHEMA: &str = "NonStructuralSchema";
pub const API_APPROVED: &str = "KubernetesAPIApprovalPolicyConformant";

/// Creates a condition. [`set`] sets its time.
pub fn condition(
    kind: &str,
    status: bool,
    reason: &str,
    message: impl Into<String>,
) -> CustomResourceDefinitionCondition {
    CustomResourceDefinitionCondition {
        r#type: kind.to_owned(),
        status: if status { "True" } else { "False" }.to_owned(),
        reason: reason.to_owned(),
        message: message.into(),
        ..CustomResourceDefinitionCondition::default()
    }
}

/// Sets a condition, replacing that of the same type. The transition time changes only with the
/// status (`SetCRDCondition`).
pub fn set(definition: &mut CustomResourceDefinition, mut new: CustomResourceDefinitionCondition, now: Time) {
    new.last_transition_time = now;
    let conditions = &mut definition.status.conditions;
    match conditions.iter_mut().find(|known| known.r#type == new.r#type) {
        Some(known) => {
            if known.status == new.status {
                new.last_transition_time = known.last_transition_time;
            }
            *known = new;
        }
        None => conditions.push(new),
    }
}

/// Whether a condition exists and is true.
pub fn is_true(definition: &CustomResourceDefinition, kind: &str) -> bool {
    definition.status.conditions.iter().any(|condition| condition.r#type == kind && condition.status == "True")
}
