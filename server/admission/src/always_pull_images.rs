//! `AlwaysPullImages`: forces image pulls at each start, so that only users with credentials run
//! private images.

use std::collections::HashSet;

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::{Container, ImageVolumeSource, Pod, PodSpec, VolumeSource, pull_policy};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::json_name;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::{body, body_mut, forbidden, joined};

/// Sets the pull policy of containers and image volumes that the request adds or changes.
pub fn admit(attributes: &AdmissionAttributes, object: &mut Owned, old: Option<&Owned>) -> Result<(), Status> {
    let old = old.and_then(Owned::downcast_ref::<Pod>);
    let pod = body_mut::<Pod>(object)?;
    let handled = HandledContainers::of(attributes, &pod.spec, old);
    if handled == HandledContainers::Nothing {
        return Ok(());
    }
    let known = names_of_ephemeral(old);
    let added = pod.spec.ephemeral_containers.iter_mut().map(|c| &mut c.ephemeral_container_common);
    for container in added.filter(|c| !known.contains(&c.name)) {
        container.image_pull_policy = pull_policy::ALWAYS.into();
    }
    if handled == HandledContainers::Ephemeral {
        return Ok(());
    }
    for container in pod.spec.init_containers.iter_mut().chain(&mut pod.spec.containers) {
        container.image_pull_policy = pull_policy::ALWAYS.into();
    }
    for image in pod.spec.volumes.iter_mut().filter_map(|v| v.volume_source.image.as_mut()) {
        image.pull_policy = pull_policy::ALWAYS.into();
    }
    Ok(())
}

/// Rejects pull policies that another plugin or a webhook changed.
pub fn validate(attributes: &AdmissionAttributes, object: &Owned, old: Option<&Owned>) -> Result<(), Status> {
    let pod = body::<Pod>(object)?;
    let old = old.and_then(Owned::downcast_ref::<Pod>);
    let mut errors = Vec::new();
    let handled = HandledContainers::of(attributes, &pod.spec, old);
    if handled == HandledContainers::Everything {
        check_containers(&pod.spec, &mut errors);
    }
    if handled != HandledContainers::Nothing {
        check_ephemeral(&pod.spec, &names_of_ephemeral(old), &mut errors);
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(refused(attributes, &errors)),
    }
}

/// The containers of a request that the plugin handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandledContainers {
    /// None: the pod already uses all images.
    Nothing,
    /// Ephemeral containers, which upstream's plugin does not handle.
    Ephemeral,
    Everything,
}

impl HandledContainers {
    fn of(attributes: &AdmissionAttributes, spec: &PodSpec, old: Option<&Pod>) -> Self {
        match (attributes.operation, old) {
            (Operation::Update, _) if !attributes.subresource.is_empty() => HandledContainers::Ephemeral,
            (Operation::Update, Some(old)) if !has_new_image(spec, &old.spec) => HandledContainers::Nothing,
            _ => HandledContainers::Everything,
        }
    }
}

fn images(spec: &PodSpec) -> impl Iterator<Item = &str> {
    let main = spec.init_containers.iter().chain(&spec.containers).map(|c| c.image.as_str());
    main.chain(spec.ephemeral_containers.iter().map(|c| c.ephemeral_container_common.image.as_str()))
}

fn has_new_image(spec: &PodSpec, old: &PodSpec) -> bool {
    let known: HashSet<&str> = images(old).collect();
    images(spec).any(|image| !known.contains(image))
}

fn names_of_ephemeral(old: Option<&Pod>) -> HashSet<String> {
    let containers = old.into_iter().flat_map(|old| &old.spec.ephemeral_containers);
    containers.map(|c| c.ephemeral_container_common.name.clone()).collect()
}

fn check_containers(spec: &PodSpec, errors: &mut Vec<FieldError>) {
    let path = Path::new(json_name!(Pod.spec));
    let mut list = |name: &str, containers: &[Container]| {
        for (index, container) in containers.iter().enumerate() {
            let (list, policy) = (path.child(name), &container.image_pull_policy);
            check(&list.index(index).child(json_name!(Container.image_pull_policy)), policy, errors);
        }
    };
    list("initContainers", &spec.init_containers);
    list("containers", &spec.containers);
    for (index, volume) in spec.volumes.iter().enumerate() {
        if let Some(image) = &volume.volume_source.image {
            let list = path.child(json_name!(PodSpec.volumes));
            check(
                &list
                    .index(index)
                    .child(json_name!(VolumeSource.image))
                    .child(json_name!(ImageVolumeSource.pull_policy)),
                &image.pull_policy,
                errors,
            );
        }
    }
}

fn check_ephemeral(spec: &PodSpec, known: &HashSet<String>, errors: &mut Vec<FieldError>) {
    let path = Path::new(json_name!(Pod.spec));
    for (index, container) in spec.ephemeral_containers.iter().enumerate() {
        let container = &container.ephemeral_container_common;
        if !known.contains(&container.name) {
            let list = path.child(json_name!(PodSpec.ephemeral_containers));
            check(
                &list.index(index).child(json_name!(Container.image_pull_policy)),
                &container.image_pull_policy,
                errors,
            );
        }
    }
}

fn check(path: &Path<'_>, policy: &str, errors: &mut Vec<FieldError>) {
    if policy != pull_policy::ALWAYS {
        errors.push(FieldError::not_supported(path, BadValue::json_string(policy), &[pull_policy::ALWAYS]));
    }
}

/// Joins all errors into one Status, which has no reason, as upstream's `errors.NewAggregate`.
fn refused(attributes: &AdmissionAttributes, errors: &[FieldError]) -> Status {
    let messages: Vec<String> = errors.iter().map(|error| forbidden(attributes, error).message).collect();
    Status::new(500, "", joined(&messages))
}

#[cfg(test)]
mod tests;
