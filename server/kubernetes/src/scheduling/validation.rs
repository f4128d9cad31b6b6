//! What upstream checks by hand in priority classes and pod groups (`pkg/apis/scheduling/validation`).

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::hooks::Validation;
use meta::validate_conditions;

use generated::scheduling::v1::PriorityClass;
use generated::scheduling::v1alpha2::PodGroup;

/// Names with this beginning are Kubernetes' own.
const SYSTEM: &str = "system-";
/// The classes that every cluster has, and their values; neither is the global default.
const SYSTEM_CLASSES: [(&str, i32); 2] =
    [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];
/// What classes of one's own may be worth.
const MAX_VALUE: i32 = 1_000_000_000;

const PREEMPTION_POLICIES: [&str; 2] = ["PreemptLowerPriority", "Never"];

/// `ValidatePriorityClass`; what an update may not change is declared.
pub fn validate_priority_class(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PriorityClass,
    old: Option<&PriorityClass>,
) {
    if old.is_none() {
        validate_new(v, path, new);
    }
}

fn validate_new(v: &mut Validation<'_>, path: &Path<'_>, class: &PriorityClass) {
    if class.metadata.name.starts_with(SYSTEM) {
        if let Some(why) = refusal_of_system_class(class) {
            let detail =
                format!("priority class names with '{SYSTEM}' prefix are reserved for system use only. error: {why}");
            v.forbidden(&path.child("metadata").child("name"), detail);
        }
    } else if class.value > MAX_VALUE {
        let detail = format!("maximum allowed value of a user defined priority is {MAX_VALUE}");
        v.forbidden(&path.child("value"), detail);
    }
    if let Some(policy) = &class.preemption_policy {
        v.required_one_of(&path.child("preemptionPolicy"), policy, &PREEMPTION_POLICIES);
    }
}

/// `IsKnownSystemPriorityClass`
fn refusal_of_system_class(class: &PriorityClass) -> Option<String> {
    let name = class.metadata.name.as_str();
    match SYSTEM_CLASSES.iter().find(|(known, _)| *known == name) {
        None => Some(format!("{name} is not a known system priority class")),
        Some((_, value)) if *value != class.value => Some(format!("value of {name} PriorityClass must be {value}")),
        Some(_) if class.global_default => Some(format!("globalDefault of {name} PriorityClass must be false")),
        Some(_) => None,
    }
}

/// `ValidatePodGroupStatusUpdate`; everything else is declared.
pub fn validate_pod_group(v: &mut Validation<'_>, path: &Path<'_>, new: &PodGroup, _: Option<&PodGroup>) {
    if v.context.subresource != "status" {
        return;
    }
    let path = path.child("status");
    validate_conditions(v, &path.child("conditions"), &new.status.conditions);
    let path = path.child("resourceClaimStatuses");
    let claims: BTreeSet<&str> = new.spec.resource_claims.iter().map(|claim| claim.name.as_str()).collect();
    for (index, status) in new.status.resource_claim_statuses.iter().enumerate() {
        if !claims.contains(status.name.as_str()) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            v.invalid(&path.index(index).child("name"), &status.name, detail);
        }
    }
}
