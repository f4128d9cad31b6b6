//! What a pod as a whole may use (KEP-2837), against what its containers may use. By hand: amounts are added.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::resources::{is_huge_pages, validate_pod_resources};
use crate::core::pod_resources::aggregate;
use generated::core::v1::{PodSpec, ResourceRequirements};

/// `validatePodResources`; `claims` are the names that the pod gives its claims.
pub(super) fn validate_resources_of_pod(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PodSpec,
    claims: &BTreeSet<&str>,
) {
    let Some(resources) = spec.resources.as_deref() else { return };
    let is_of_windows = spec.os.as_deref().is_some_and(|os| os.name == "windows");
    v.checks_of("resources", path, Ref::of(spec), None);
    if is_of_windows {
        return;
    }
    let path = &path.child("resources");
    validate_pod_resources(v, path, resources, claims);
    validate_consistency(v, path, spec, resources);
}

/// `validatePodResourceConsistency`
fn validate_consistency(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodSpec, resources: &ResourceRequirements) {
    for (name, needed) in aggregate(spec, |r| &r.requests) {
        if let Some(given) = resources.requests.get(&name).filter(|given| needed > **given) {
            let detail = format!("must be greater than or equal to aggregate container requests of {needed}");
            v.invalid(&path.child("requests").key(&name), given.to_string(), detail);
        }
    }
    for (name, needed) in aggregate(spec, |r| &r.limits).into_iter().filter(|(name, _)| is_huge_pages(name)) {
        if let Some(given) = resources.limits.get(&name).filter(|given| needed > **given) {
            let detail = format!("must be greater than or equal to aggregate container limits of {needed}");
            v.invalid(&path.child("limits").key(&name), given.to_string(), detail);
        }
    }
    for (index, container) in spec.containers.iter().enumerate() {
        for (name, own) in &container.resources.limits {
            if let Some(given) = resources.limits.get(name).filter(|given| own > *given) {
                let path = path.child("containers");
                let path = path.index(index);
                let path = path.key(name);
                let path = path.child("limits");
                v.invalid(&path, own.to_string(), format!("must be less than or equal to pod limits of {given}"));
            }
        }
    }
}
