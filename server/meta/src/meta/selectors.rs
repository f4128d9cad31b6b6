//! Validation of selectors, labels and annotations.

use std::collections::BTreeMap;

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::{Validation, WriteContext};
use machinery::options;
use machinery::reflect::Ref;
use machinery::selector;

use apimachinery::meta::v1::{LabelSelector, LabelSelectorRequirement};

/// Relaxations of the validation of selectors, for values that are already stored
/// (`LabelSelectorValidationOptions`).
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectorOptions {
    pub allow_invalid_values: bool,
    pub allow_unknown_operators: bool,
}

/// Mirrors `ValidateLabelSelector` without options.
pub fn validate_label_selector(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &LabelSelector,
    _: Option<&LabelSelector>,
) {
    validate_label_selector_with(v, path, selector, SelectorOptions::default());
}

/// Mirrors `ValidateLabelSelector`.
pub fn validate_label_selector_with(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &LabelSelector,
    options: SelectorOptions,
) {
    validate_with(v, path, Ref::of(selector), options);
}

fn validate_with(v: &mut Validation<'_>, path: &Path<'_>, of: Ref<'_>, options: SelectorOptions) {
    v.set_option(options::ANY_SELECTOR_VALUE, options.allow_invalid_values);
    v.set_option(options::ANY_SELECTOR_OPERATOR, options.allow_unknown_operators);
    v.checks(path, of, None);
    v.set_option(options::ANY_SELECTOR_VALUE, false);
    v.set_option(options::ANY_SELECTOR_OPERATOR, false);
}

/// Whether a selector can be evaluated (`LabelSelectorAsSelector`). A stored one may be invalid.
pub fn is_valid_selector(selector: &LabelSelector) -> bool {
    let (context, errors) = (&WriteContext::default(), &mut Vec::new());
    let mut v = Validation::new(context, errors);
    validate_label_selector(&mut v, &Path::NONE, selector, None);
    errors.is_empty()
}

/// Mirrors `ValidateLabelSelectorRequirement`.
pub fn validate_label_selector_requirement(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    requirement: &LabelSelectorRequirement,
    options: SelectorOptions,
) {
    validate_with(v, path, Ref::of(requirement), options);
}

/// Mirrors `ValidateLabelName`.
pub fn validate_label_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    v.malformed(path, name, format::is_qualified_name(name));
}

/// Mirrors `ValidateLabels`.
pub fn validate_labels(v: &mut Validation<'_>, path: &Path<'_>, labels: &BTreeMap<String, String>) {
    for (name, value) in labels {
        validate_label_name(v, path, name);
        v.malformed(path, value, format::is_label_value(value));
    }
}

/// Mirrors `ValidateAnnotations`: names follow the rule of labels but in any case; only the total
/// size of the values is limited.
pub fn validate_annotations(v: &mut Validation<'_>, path: &Path<'_>, annotations: &BTreeMap<String, String>) {
    for name in annotations.keys() {
        v.malformed(path, name, format::is_qualified_name(&name.to_lowercase()));
    }
    if annotations_size(annotations) > format::ANNOTATIONS_MAX_SIZE {
        v.errors.push(FieldError::too_long(path, format::ANNOTATIONS_MAX_SIZE));
    }
}

/// Converts a selector for evaluation (`LabelSelectorAsSelector`). An absent one selects nothing; a
/// malformed one gives `None`.
pub fn compiled_selector(selector: Option<&LabelSelector>) -> Option<selector::LabelSelector> {
    let Some(selector) = selector else { return Some(selector::LabelSelector::nothing()) };
    let labels = selector.match_labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let expressions = selector.match_expressions.iter();
    let expressions = expressions.map(|r| (r.key.as_str(), r.operator.as_str(), r.values.as_slice()));
    selector::LabelSelector::from_api(labels, expressions).ok()
}

/// Whether a selector matches an object with these labels.
pub fn selects(selector: &selector::LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    selector.matches(|key| labels.get(key).map(String::as_str))
}

/// Whether a stored selector requires a value that no label can have
/// (`LabelSelectorHasInvalidLabelValue`).
pub fn has_invalid_label_value(selector: &LabelSelector) -> bool {
    let mut values = selector.match_expressions.iter().flat_map(|requirement| &requirement.values);
    values.any(|value| !format::is_label_value(value).is_empty())
}

/// The total size of names and values in bytes.
pub fn annotations_size(annotations: &BTreeMap<String, String>) -> usize {
    annotations.iter().map(|(name, value)| name.len() + value.len()).sum()
}
