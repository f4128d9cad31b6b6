//! Validation of pod templates of workloads, and of their selectors. The stored template determines the
//! [`PodOptions`].

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options::ANY_VALUES_OF_PODS;

use crate::core::{PodOptions, validate_pod_template_spec};
use generated::core::v1::PodTemplateSpec;
use generated::meta::v1::LabelSelector;
use meta::{SelectorOptions, validate_label_selector_with};

/// Allows selectors with invalid label values if the stored template has such. Hand-written, because
/// the option belongs to pods.
pub fn choose_values_of_pods(v: &mut Validation<'_>, _: &Path<'_>, _: &PodTemplateSpec, old: Option<&PodTemplateSpec>) {
    let is_allowed = PodOptions::of_template(v.context, old).allow_invalid_values_of_pods;
    v.set_option(ANY_VALUES_OF_PODS, is_allowed);
}

/// Validates the workload's selector. Hand-written, because the pods' option applies to selectors only
/// for these checks.
pub fn validate_selector_of_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &LabelSelector,
    _: Option<&LabelSelector>,
) {
    let allow_invalid_values = v.has_option(ANY_VALUES_OF_PODS);
    let options = SelectorOptions { allow_invalid_values, ..SelectorOptions::default() };
    validate_label_selector_with(v, path, new, options);
}

/// Validates the template. Hand-written, because the options follow from the stored template.
pub fn validate_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodTemplateSpec,
    old: Option<&PodTemplateSpec>,
) {
    let mut options = PodOptions::of_template(v.context, old);
    options.allow_invalid_values_of_pods |= v.has_option(ANY_VALUES_OF_PODS);
    validate_pod_template_spec(v, path, new, &options);
}
