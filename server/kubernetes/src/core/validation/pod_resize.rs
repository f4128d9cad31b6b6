//! Validation of changes of the resources of a running pod (KEP-1287). Hand-written, because the whole
//! spec is compared with the stored one, except for mutable fields.

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use super::container_transition::is_sidecar;
use crate::core::qos::quality_of_service;
use generated::core::v1::{
    Container, Pod, PodSpec, ResourceRequirements, resource_name, resource_resize_restart_policy,
};

const RESIZABLE: [&str; 2] = [resource_name::CPU, resource_name::MEMORY];
const ONLY_RESIZABLE: &str = "only cpu and memory resources are mutable";

/// Resizable containers of a spec, by list.
type Lists<'s> = [(&'static str, &'s [Container]); 2];

/// `ValidatePodResize`, without the checks that apply to all pods.
pub(super) fn validate_resize(v: &mut Validation<'_>, new: &Pod, old: &Pod) {
    let path = Path::new(json_name!(Pod.spec));
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
        if !v.context.enabled(features::InPlacePodLevelResourcesVerticalScaling) {
            let detail = "resize of pods with pod-level resources is forbidden when \
                InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled";
            return v.forbidden(&Path::new(""), detail);
        }
        validate_resize_of_pod(v, &path, &mut rest, &old.spec);
    }
    if !old.status.node_allocatable_resource_claim_statuses.is_empty() {
        v.forbidden(&path, "pods with node allocatable resource claims cannot be resized");
    }
    if !validate_order(v, &path, lists(&new.spec), lists(&old.spec)) {
        return;
    }
    validate_removals(v, &path, &new.spec, &old.spec);
    validate_only_resized(v, &path, &mut rest, &old.spec);
    if v.errors.is_empty() && rest != old.spec {
        v.forbidden(&path, ONLY_RESIZABLE);
    }
}

fn lists(spec: &PodSpec) -> Lists<'_> {
    [("containers", &spec.containers), ("initContainers", &spec.init_containers)]
}

fn has_resources(spec: &PodSpec) -> bool {
    spec.resources.as_deref().is_some_and(|r| !r.requests.is_empty() || !r.limits.is_empty())
}

/// Whether the pod's node supports resizing (`isPodResizeRequestSupported`): it then reports the
/// resources of running containers.
fn is_supported(pod: &Pod) -> bool {
    let running = pod.status.container_statuses.iter().find(|status| status.state.running.is_some());
    running.is_none_or(|status| status.resources.is_some())
}

/// `validatePodLevelResourcesResize`; sets the resizable fields in `rest` to the stored values.
fn validate_resize_of_pod(v: &mut Validation<'_>, path: &Path<'_>, rest: &mut PodSpec, old: &PodSpec) {
    let resources = path.child(json_name!(PodSpec.resources));
    match (rest.resources.as_deref(), old.resources.as_deref()) {
        (None, Some(_)) => return v.forbidden(&resources, "pod-level resources cannot be removed"),
        (Some(new), Some(old)) => validate_removal(v, &resources, "pod-level resource", new, old),
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
fn validate_order(v: &mut Validation<'_>, path: &Path<'_>, new: Lists<'_>, old: Lists<'_>) -> bool {
    let before = v.errors.len();
    for ((list, new), (_, old)) in new.into_iter().zip(old) {
        let path = path.child(list);
        if new.len() != old.len() {
            v.forbidden(&path, format!("{list} may not be added or removed on resize"));
            continue;
        }
        for (index, _) in new.iter().zip(old).enumerate().filter(|(_, (new, old))| new.name != old.name) {
            v.forbidden(
                &path.index(index).child(json_name!(Container.name)),
                format!("{list} may not be renamed or reordered on resize"),
            );
        }
    }
    v.errors.len() == before
}

/// `validateContainerResize`
fn validate_removals(v: &mut Validation<'_>, path: &Path<'_>, new: &PodSpec, old: &PodSpec) {
    let all_inits = v.context.enabled(features::InPlacePodVerticalScalingInitContainers);
    for ((list, new), (_, old)) in lists(new).into_iter().zip(lists(old)).rev() {
        let path = path.child(list);
        for (index, (new, old)) in new.iter().zip(old).enumerate() {
            if list == "containers" || all_inits || is_sidecar(old) {
                validate_removal(
                    v,
                    &path.index(index).child(json_name!(Container.resources)),
                    "resource",
                    &new.resources,
                    &old.resources,
                );
            }
        }
    }
}

fn validate_removal(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    what: &str,
    new: &ResourceRequirements,
    old: &ResourceRequirements,
) {
    for (list, new, old) in [("requests", &new.requests, &old.requests), ("limits", &new.limits, &old.limits)] {
        if old.keys().any(|name| !new.contains_key(name)) {
            v.forbidden(&path.child(list), format!("{what} {list} cannot be removed"));
        }
    }
}

/// Checks that containers differ only in resizable fields; sets those fields in `rest` to the stored
/// values.
fn validate_only_resized(v: &mut Validation<'_>, path: &Path<'_>, rest: &mut PodSpec, old: &PodSpec) {
    for (new, old) in rest.containers.iter_mut().zip(&old.containers) {
        restore_container(new, old);
        if new != old {
            v.forbidden(path, ONLY_RESIZABLE);
        }
    }
    let all_inits = v.context.enabled(features::InPlacePodVerticalScalingInitContainers);
    let inits = path.child(json_name!(PodSpec.init_containers));
    for (index, (new, old)) in rest.init_containers.iter_mut().zip(&old.init_containers).enumerate() {
        let (is_sidecar, is_changed) = (is_sidecar(new), new != old);
        if !is_sidecar && !all_inits {
            if is_changed {
                v.forbidden(path, "resources for non-sidecar init containers are immutable");
            }
            continue;
        }
        let path = inits.index(index);
        restore_container(new, old);
        if new != old {
            v.forbidden(&path, "only cpu and memory resources for init or sidecar containers are mutable");
        }
        let restarts = new
            .resize_policy
            .iter()
            .filter(|policy| policy.restart_policy == resource_resize_restart_policy::RESTART_CONTAINER);
        for _ in restarts.filter(|_| is_changed && !is_sidecar) {
            let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
            v.forbidden(&path, detail);
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
