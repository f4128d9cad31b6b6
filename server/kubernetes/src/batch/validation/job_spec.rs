//! The spec of jobs and of their templates.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use crate::core::{PodOptions, validate_pod_template_spec};
use generated::batch::v1::JobSpec;
use meta::{SelectorOptions, compiled_selector, has_invalid_label_value, selects, validate_label_selector_with};

/// The mode in which every pod has a number.
pub(super) const INDEXED: &str = "Indexed";
/// Beyond so many completions, less may run and fail.
const MANY: i32 = 100_000;

/// What the template and the selector of a job may hold, as it is stored.
fn options(v: &Validation<'_>, old: Option<&JobSpec>) -> PodOptions {
    let mut options = PodOptions::of_template(v.context, old.map(|old| &old.template));
    let selector = old.and_then(|old| old.selector.as_deref());
    options.allow_invalid_values_of_pods |= selector.is_some_and(has_invalid_label_value);
    options
}

/// By hand: a number is compared with another in order to ask more of the rest.
pub fn validate_many_completions(v: &mut Validation<'_>, path: &Path<'_>, new: &JobSpec, _: Option<&JobSpec>) {
    if new.completions.is_some_and(|completions| completions > MANY) {
        v.checks_of("many", path, Ref::of(new), None);
    }
}

/// By hand: what is stored decides what templates may hold.
pub fn validate_pods_of_job(v: &mut Validation<'_>, path: &Path<'_>, new: &JobSpec, old: Option<&JobSpec>) {
    let options = options(v, old);
    validate_pod_template_spec(v, &path.child("template"), &new.template, &options);
}

/// By hand: what is stored decides what selectors may hold, and the labels of the template are compared with this one.
pub fn validate_selector_of_job(v: &mut Validation<'_>, path: &Path<'_>, new: &JobSpec, old: Option<&JobSpec>) {
    let selector = new.selector.as_deref();
    if let Some(selector) = selector {
        let allow_invalid_values = options(v, old).allow_invalid_values_of_pods;
        let options = SelectorOptions { allow_invalid_values, ..SelectorOptions::default() };
        validate_label_selector_with(v, &path.child("selector"), selector, options);
    }
    let labels = &new.template.metadata.labels;
    if compiled_selector(selector).is_some_and(|selector| !selects(&selector, labels)) {
        let path = path.child("template");
        let path = path.child("metadata");
        let detail = "`selector` does not match template `labels`";
        v.invalid(&path.child("labels"), BadValue::string_map(labels), detail);
    }
}
