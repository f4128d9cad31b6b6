//! What kubelets say about containers: the users they run as, the devices they got, the images they mount.
//! By hand: names are looked up in the spec.

use std::collections::{BTreeMap, HashSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options;
use machinery::reflect::Ref;

use generated::core::v1::{Container, ContainerStatus, PodSpec, PodStatus, ResourceClaim};

const UNKNOWN_CLAIM: &str = "must match one of the container's resource claims in a format \
    'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
const UNKNOWN_REQUEST: &str = "must match one of the container's resource requests";

/// What the statuses of containers of every sort say, below the pod's status.
pub(super) fn validate_container_statuses(v: &mut Validation<'_>, path: &Path<'_>, status: &PodStatus, spec: &PodSpec) {
    let (mains, inits) = (path.child("containerStatuses"), path.child("initContainerStatuses"));
    let os = spec.os.as_deref().map_or("linux", |os| os.name.as_str());
    v.set_option(options::OS_LINUX, os == "linux");
    v.set_option(options::OS_WINDOWS, os == "windows");
    v.checks_of("users", path, Ref::of(status), None);
    validate_allocated(v, &mains, &status.container_statuses, &spec.containers);
    validate_allocated(v, &inits, &status.init_container_statuses, &spec.init_containers);
    v.checks_of("mounts", path, Ref::of(status), None);
}

/// `validateContainerStatusAllocatedResourcesStatus`; containers that are not there are not looked for.
fn validate_allocated(v: &mut Validation<'_>, path: &Path<'_>, statuses: &[ContainerStatus], containers: &[Container]) {
    // Of containers of one name, the first one counts.
    let containers: BTreeMap<&str, &Container> = containers.iter().rev().map(|c| (c.name.as_str(), c)).collect();
    for (index, status) in statuses.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("allocatedResourcesStatus");
        let container = containers.get(status.name.as_str()).copied();
        let claims = container.map(names_of_claims).unwrap_or_default();
        for (index, allocated) in status.allocated_resources_status.iter().enumerate() {
            let path = path.index(index);
            if let Some(refusal) =
                container.and_then(|container| refusal_of_resource(&allocated.name, container, &claims))
            {
                v.invalid(&path.child("name"), BadValue::json_string(&allocated.name), refusal);
            }
            v.checks(&path, Ref::of(allocated), None);
        }
    }
}

/// Why a container did not get a resource, or a claim.
fn refusal_of_resource(name: &str, container: &Container, claims: &HashSet<String>) -> Option<&'static str> {
    let Some(wanted) = name.strip_prefix("claim:") else {
        return (!container.resources.requests.contains_key(name)).then_some(UNKNOWN_REQUEST);
    };
    (!claims.contains(wanted)).then_some(UNKNOWN_CLAIM)
}

/// The claims of a container by the names that a status has for them.
fn names_of_claims(container: &Container) -> HashSet<String> {
    let name = |claim: &ResourceClaim| match claim.request.as_str() {
        "" => claim.name.clone(),
        request => format!("{}/{request}", claim.name),
    };
    container.resources.claims.iter().map(name).collect()
}
