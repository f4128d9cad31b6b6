//! Templates of pods. By hand: the options of pods, and annotations that are compared with fields.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::annotations::{validate_against_fields, validate_pod_annotations};
use super::options::PodOptions;
use super::pod_spec::validate_pod_spec;
use generated::core::v1::PodTemplateSpec;
use meta::{validate_annotations, validate_labels};

/// `ValidatePodTemplateSpec`
pub fn validate_pod_template_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    options: &PodOptions,
) {
    let (meta, spec) = (&template.metadata, &template.spec);
    validate_labels(v, &path.child("labels"), &meta.labels);
    let annotations = path.child("annotations");
    validate_annotations(v, &annotations, &meta.annotations);
    validate_pod_annotations(v, &annotations, &meta.annotations, spec, options);
    let path = path.child("spec");
    validate_pod_spec(v, &path, spec, None, options);
    validate_against_fields(v, &path, &meta.annotations, spec);
    v.checks_of("template", &path, Ref::of(spec), None);
}
