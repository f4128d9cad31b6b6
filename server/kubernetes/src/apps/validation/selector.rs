//! Selectors of workloads, and the templates of the pods that they are to select.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::selector;

use crate::core::internal::internal_value;
use crate::core::{PodOptions, validate_pod_template_spec};
use generated::core::v1::PodTemplateSpec;
use generated::meta::v1::LabelSelector;
use meta::{compiled_selector, selects};

/// The selector to compare labels with. One that cannot be used is refused.
pub(super) fn usable_selector(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: Option<&LabelSelector>,
    refusal: &'static str,
) -> Option<selector::LabelSelector> {
    let compiled = compiled_selector(selector);
    if let (None, Some(selector)) = (&compiled, selector) {
        v.invalid(path, internal_value(selector), refusal);
    }
    compiled
}

/// That a template's labels are selected.
pub(super) fn validate_selected(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    selector: &selector::LabelSelector,
) {
    let labels = &template.metadata.labels;
    if !selects(selector, labels) {
        let path = path.child("metadata");
        let detail = "`selector` does not match template `labels`";
        v.invalid(&path.child("labels"), BadValue::string_map(labels), detail);
    }
}

/// `ValidatePodTemplateSpecForReplicaSet`, without what is declared as the part `pods` of the specs.
pub(super) fn validate_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    selector: &selector::LabelSelector,
    options: &PodOptions,
) {
    if !selector.is_empty() {
        validate_selected(v, path, template, selector);
    }
    validate_pod_template_spec(v, path, template, options);
}
