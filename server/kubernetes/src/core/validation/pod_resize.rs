//! Changing what the containers of a running pod may use (KEP-1287).
//! By hand: the whole spec is compared with what is stored, except for what may change.

use std::collections::BTreeMap;

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::Quantity;

use super::annotations::MIRROR;
use super::container::is_sidecar;
use super::options::PodOptions;
use super::pod::validate_contents;
use crate::core::quality::quality_of_service;
use generated::core::v1::{Container, Pod, PodSpec, ResourceRequirements};

type ResourceList = BTreeMap<String, Quantity>;

const RESIZABLE: [&str; 2] = ["cpu", "memory"];
const ONLY_RESIZABLE: &str = "only cpu and memory resources are mutable";

/// `ValidatePodResize`
pub(super) fn validate_resize(v: &mut Validation<'_>, new: &Pod, old: &Pod, options: &PodOptions) {
    let refusal = if old.metadata.annotations.contains_key(MIRROR) {
        Some("static pods cannot be resized")
    } else if old.spec.os.as_deref().is_some_and(|os| os.name == "windows") {
        Some("windows pods cannot be resized")
    } else {
        None
    };
    if let Some(refusal) = refusal {
        // Instead of everything else that is wrong.
        v.errors.clear();
        return v.forbidden(&Path::new(""), refusal);
    }
    validate_contents(v, new, options);
    let path = Path::new("spec");
    let class = &old.status.qos_class;
    let class = if class.is_empty() { quality_of_service(&old.spec) } else { class };
    if class != quality_of_service(&new.spec) {
        let value = BadValue::json_string(&new.status.qos_class);
        v.invalid(&path, value, "Pod QOS Class may not change as a result of resizing");
    }
    if !is_supported(old) {
        v.forbidden(&path, "Pod running on node without support for resize");
    }
    let mut rest = new.spec.clone();
    if has_resources(&old.spec) || has_resources(&new.spec) {
        if !options.resize_pod_level_resources {
            let detail = "resize of pods with pod-level resources is forbidden when \
                InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled";
            return v.forbidden(&Path::new(""), detail);
        }
        validate_resize_of_pod(v, &path, &mut rest, &old.spec);
    }
    if !validate_order(v, &path, &new.spec, &old.spec) {
        return;
    }
    validate_removals(v, &path, &new.spec, &old.spec);
    validate_only_resized(v, &path, &mut rest, &old.spec);
    if v.errors.is_empty() && rest != old.spec {
        v.forbidden(&path, ONLY_RESIZABLE);
    }
}

fn has_resources(spec: &PodSpec) -> bool {
    spec.resources.as_deref().is_some_and(|r| !r.requests.is_empty() || !r.limits.is_empty())
}

/// Whether the node of a pod can resize it (`isPodResizeRequestSupported`): then it says what running containers have.
fn is_supported(pod: &Pod) -> bool {
    let running = pod.status.container_statuses.iter().find(|status| status.state.running.is_some());
    running.is_none_or(|status| status.resources.is_some())
}

/// `validatePodLevelResourcesResize`; `rest` gets what is stored.
fn validate_resize_of_pod(v: &mut Validation<'_>, path: &Path<'_>, rest: &mut PodSpec, old: &PodSpec) {
    let resources = path.child("resources");
    match (rest.resources.as_deref(), old.resources.as_deref()) {
        (None, Some(_)) => return v.forbidden(&resources, "pod-level resources cannot be removed"),
        (Some(new), Some(old)) => {
            if is_removed(&new.requests, &old.requests) {
                v.forbidden(&resources.child("requests"), "pod-level resource requests cannot be removed");
            }
            if is_removed(&new.limits, &old.limits) {
                v.forbidden(&resources.child("limits"), "pod-level resource limits cannot be removed");
            }
        }
        _ => {}
    }
    let none = ResourceRequirements::default();
    let was = old.resources.as_deref();
    if let Some(new) = rest.resources.as_deref_mut() {
        restore(new, was.unwrap_or(&none));
    }
    rest.resources.take_if(|new| was.is_none() && **new == none);
    if rest.resources.as_deref() != was {
        v.forbidden(path, "only cpu and memory resources are mutable at pod-level");
    }
}

/// `validatePodResizeContainerOrdering`
fn validate_order(v: &mut Validation<'_>, path: &Path<'_>, new: &PodSpec, old: &PodSpec) -> bool {
    let before = v.errors.len();
    for (list, new, old) in [
        ("containers", &new.containers, &old.containers),
        ("initContainers", &new.init_containers, &old.init_containers),
    ] {
        let path = path.child(list);
        if new.len() != old.len() {
            v.forbidden(&path, format!("{list} may not be added or removed on resize"));
            continue;
        }
        for (index, (new, old)) in new.iter().zip(old).enumerate() {
            if new.name != old.name {
                let detail = format!("{list} may not be renamed or reordered on resize");
                v.forbidden(&path.index(index).child("name"), detail);
            }
        }
    }
    v.errors.len() == before
}

/// `validateContainerResize`
fn validate_removals(v: &mut Validation<'_>, path: &Path<'_>, new: &PodSpec, old: &PodSpec) {
    let all_inits = v.context.enabled(features::InPlacePodVerticalScalingInitContainers);
    let inits = path.child("initContainers");
    let pairs = new.init_containers.iter().zip(&old.init_containers).enumerate();
    for (index, (new, old)) in pairs.filter(|(_, (_, old))| all_inits || is_sidecar(old)) {
        validate_removal(v, &inits.index(index).child("resources"), &new.resources, &old.resources);
    }
    let mains = path.child("containers");
    for (index, (new, old)) in new.containers.iter().zip(&old.containers).enumerate() {
        validate_removal(v, &mains.index(index).child("resources"), &new.resources, &old.resources);
    }
}

fn validate_removal(v: &mut Validation<'_>, path: &Path<'_>, new: &ResourceRequirements, old: &ResourceRequirements) {
    if is_removed(&new.requests, &old.requests) {
        v.forbidden(&path.child("requests"), "resource requests cannot be removed");
    }
    if is_removed(&new.limits, &old.limits) {
        v.forbidden(&path.child("limits"), "resource limits cannot be removed");
    }
}

fn is_removed(new: &ResourceList, old: &ResourceList) -> bool {
    old.keys().any(|name| !new.contains_key(name))
}

/// That nothing else of a container changes than what can be resized; `rest` gets what is stored of that.
fn validate_only_resized(v: &mut Validation<'_>, path: &Path<'_>, rest: &mut PodSpec, old: &PodSpec) {
    for (new, old) in rest.containers.iter_mut().zip(&old.containers) {
        restore_container(new, old);
        if new != old {
            v.forbidden(path, ONLY_RESIZABLE);
        }
    }
    let all_inits = v.context.enabled(features::InPlacePodVerticalScalingInitContainers);
    for (index, (new, old)) in rest.init_containers.iter_mut().zip(&old.init_containers).enumerate() {
        if is_sidecar(new) {
            restore_container(new, old);
            if new != old {
                v.forbidden(path, "only cpu and memory resources for sidecar containers are mutable");
            }
        } else if all_inits {
            restore_container(new, old);
            if new != old {
                v.forbidden(&path.child("initContainers").index(index), ONLY_RESIZABLE);
            }
        } else if new != old {
            v.forbidden(path, "resources for non-sidecar init containers are immutable");
        }
    }
}

/// `dropCPUMemoryResourcesFromContainer`: claims are not compared.
fn restore_container(new: &mut Container, old: &Container) {
    restore(&mut new.resources, &old.resources);
    new.resources.claims.clear();
}

fn restore(new: &mut ResourceRequirements, old: &ResourceRequirements) {
    for (new, old) in [(&mut new.requests, &old.requests), (&mut new.limits, &old.limits)] {
        for name in RESIZABLE {
            new.remove(name);
            if let Some(amount) = old.get(name) {
                new.insert(name.to_owned(), amount.clone());
            }
        }
    }
}
