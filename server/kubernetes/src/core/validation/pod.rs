//! Pods, whole. By hand: what is asked depends on the subresource, and on options.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::annotations::{validate_against_fields, validate_pod_annotations};
use super::options::PodOptions;
use super::pod_ephemeral::validate_ephemeral_containers_change;
use super::pod_resize::validate_resize;
use super::pod_spec::validate_pod_spec;
use super::pod_status::validate_status_change;
use super::pod_update::validate_change;
use generated::core::v1::Pod;

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
    v.checks_of("new", &path, Ref::of(spec), None);
    validate_against_fields(v, &path, &pod.metadata.annotations, spec);
}

/// `validatePodMetadataAndSpec` without what is asked of all metadata.
pub(super) fn validate_contents(v: &mut Validation<'_>, pod: &Pod, options: &PodOptions) {
    let (metadata, path) = (Path::new("metadata"), Path::new("spec"));
    let spec = &pod.spec;
    validate_pod_annotations(v, &metadata.child("annotations"), &pod.metadata.annotations, spec, options);
    validate_pod_spec(v, &path, spec, Some(&pod.metadata), options);
    v.checks_of("pod", &path, Ref::of(spec), None);
}
