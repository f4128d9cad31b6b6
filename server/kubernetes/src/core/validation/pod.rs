//! Pods, whole.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::annotations::{validate_against_fields, validate_pod_annotations};
use super::container::validate_image_of_pod;
use super::options::PodOptions;
use super::pod_ephemeral::validate_ephemeral_containers_change;
use super::pod_resize::validate_resize;
use super::pod_spec::validate_pod_spec;
use super::pod_status::validate_status_change;
use super::pod_update::validate_change;
use generated::core::v1::{Container, Pod, Volume};

/// `ValidatePodCreate` and what its subresources change.
pub fn validate_pod(v: &mut Validation<'_>, _: &Path<'_>, new: &Pod, old: Option<&Pod>) {
    let options = PodOptions::of_pod(v.context, old);
    let Some(old) = old else { return validate_new(v, new, &options) };
    match v.context.subresource.as_str() {
        "status" => validate_status_change(v, new, old, &options),
        "ephemeralcontainers" => validate_ephemeral_containers_change(v, new, old, &options),
        "resize" => validate_resize(v, new, old, &options),
        _ => validate_change(v, new, old, &options),
    }
}

fn validate_new(v: &mut Validation<'_>, pod: &Pod, options: &PodOptions) {
    validate_contents(v, pod, options);
    let (path, spec) = (Path::new("spec"), &pod.spec);
    if !spec.ephemeral_containers.is_empty() {
        v.forbidden(&path.child("ephemeralContainers"), "cannot be set on create");
    }
    if !spec.node_name.is_empty() && !spec.scheduling_gates.is_empty() {
        v.forbidden(&path.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
    validate_against_fields(v, &path, &pod.metadata.annotations, spec);
}

/// `validatePodMetadataAndSpec` without what is asked of all metadata.
pub(super) fn validate_contents(v: &mut Validation<'_>, pod: &Pod, options: &PodOptions) {
    let (metadata, path) = (Path::new("metadata"), Path::new("spec"));
    let spec = &pod.spec;
    validate_pod_annotations(v, &metadata.child("annotations"), &pod.metadata.annotations, spec, options);
    validate_pod_spec(v, &path, spec, Some(&pod.metadata), options);
    if spec.service_account_name.is_empty() {
        refuse_tokens(v, &path.child("volumes"), &spec.volumes);
    }
    validate_images(v, &path.child("containers"), &spec.containers);
    validate_images(v, &path.child("initContainers"), &spec.init_containers);
}

/// Without an account there is none to make tokens for.
fn refuse_tokens(v: &mut Validation<'_>, path: &Path<'_>, volumes: &[Volume]) {
    for (index, volume) in volumes.iter().enumerate() {
        let Some(projected) = volume.volume_source.projected.as_deref() else { continue };
        let path = path.index(index);
        let path = path.child("projected");
        let path = path.child("sources");
        for (index, source) in projected.sources.iter().enumerate() {
            if source.service_account_token.is_some() {
                let path = path.index(index);
                let path = path.child("serviceAccountToken");
                v.forbidden(&path, "must not be specified when serviceAccountName is not set");
            }
        }
    }
}

fn validate_images(v: &mut Validation<'_>, path: &Path<'_>, containers: &[Container]) {
    for (index, container) in containers.iter().enumerate() {
        validate_image_of_pod(v, &path.index(index).child("image"), &container.image);
    }
}
