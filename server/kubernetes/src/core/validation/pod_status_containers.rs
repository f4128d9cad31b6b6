//! What kubelets say about containers: the users they run as, the devices they got, the images they mount.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{is_valid_group_id, is_valid_user_id};
use machinery::hooks::Validation;

use generated::core::v1::{
    Container, ContainerStatus, LinuxContainerUser, PodSpec, PodStatus, ResourceClaim, ResourceStatus,
};

const HEALTHS: [&str; 3] = ["Healthy", "Unhealthy", "Unknown"];
const UNKNOWN_CLAIM: &str = "must match one of the container's resource claims in a format \
    'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
const UNKNOWN_REQUEST: &str = "must match one of the container's resource requests";
const MAX_IMAGE_REF: usize = 256;

/// What the statuses of containers of every sort say, below the pod's status.
pub(super) fn validate_container_statuses(v: &mut Validation<'_>, path: &Path<'_>, status: &PodStatus, spec: &PodSpec) {
    let (mains, inits, ephemerals) = (
        path.child("containerStatuses"),
        path.child("initContainerStatuses"),
        path.child("ephemeralContainerStatuses"),
    );
    let lists = [
        (&mains, &status.container_statuses),
        (&inits, &status.init_container_statuses),
        (&ephemerals, &status.ephemeral_container_statuses),
    ];
    let os = spec.os.as_deref().map_or("linux", |os| os.name.as_str());
    for (path, statuses) in lists {
        validate_users(v, path, statuses, os);
    }
    validate_allocated(v, &mains, &status.container_statuses, &spec.containers);
    validate_allocated(v, &inits, &status.init_container_statuses, &spec.init_containers);
    for (index, status) in status.ephemeral_container_statuses.iter().enumerate() {
        if !status.allocated_resources_status.is_empty() {
            let path = ephemerals.index(index);
            let path = path.child("allocatedResourcesStatus");
            v.forbidden(&path, "must not be specified in container status");
        }
    }
    for (path, statuses) in lists {
        validate_mounts(v, path, statuses);
    }
}

/// `validateContainerStatusUsers`
fn validate_users(v: &mut Validation<'_>, path: &Path<'_>, statuses: &[ContainerStatus], os: &str) {
    for (index, status) in statuses.iter().enumerate() {
        let Some(user) = status.user.as_deref().and_then(|user| user.linux.as_deref()) else { continue };
        let path = path.index(index);
        let path = path.child("user");
        let path = path.child("linux");
        match os {
            "windows" => v.forbidden(&path, "cannot be set for a windows pod"),
            "linux" => validate_linux_user(v, &path, user),
            _ => {}
        }
    }
}

fn validate_linux_user(v: &mut Validation<'_>, path: &Path<'_>, user: &LinuxContainerUser) {
    for message in is_valid_user_id(user.uid) {
        v.invalid(&path.child("uid"), user.uid, message);
    }
    for message in is_valid_group_id(user.gid) {
        v.invalid(&path.child("gid"), user.gid, message);
    }
    for (index, group) in user.supplemental_groups.iter().enumerate() {
        for message in is_valid_group_id(*group) {
            v.invalid(&path.child("supplementalGroups").index(index), *group, message);
        }
    }
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
            validate_health(v, &path.child("resources"), allocated);
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

fn validate_health(v: &mut Validation<'_>, path: &Path<'_>, status: &ResourceStatus) {
    let mut ids = BTreeSet::new();
    for (index, resource) in status.resources.iter().enumerate() {
        let path = path.index(index);
        v.one_of(&path.child("health"), &resource.health, &HEALTHS);
        if !ids.insert(&resource.resource_id) {
            v.duplicate(&path.child("resourceID"), BadValue::json_string(&resource.resource_id));
        }
    }
}

/// `validateVolumeStatus`
fn validate_mounts(v: &mut Validation<'_>, path: &Path<'_>, statuses: &[ContainerStatus]) {
    for (index, status) in statuses.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("volumeMounts");
        for (index, mount) in status.volume_mounts.iter().enumerate() {
            let image = mount.volume_status.as_deref().and_then(|status| status.image.as_deref());
            let Some(image) = image else { continue };
            let path = path.index(index);
            let path = path.child("volumeStatus");
            let path = path.child("imageVolumeStatus");
            let path = path.child("imageRef");
            if image.image_ref.is_empty() {
                v.required(&path, "");
            } else if image.image_ref.len() > MAX_IMAGE_REF {
                v.too_long(&path, MAX_IMAGE_REF);
            }
        }
    }
}
