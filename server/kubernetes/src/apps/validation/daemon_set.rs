//! Daemon sets. The generation of the template, which clients do not see, is the server's own.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::percent::{is_none, shown};
use super::selector::validate_selected;
use crate::core::internal::internal_value;
use crate::core::{PodOptions, validate_pod_template_spec};
use generated::apps::v1::{DaemonSetSpec, DaemonSetUpdateStrategy, RollingUpdateDaemonSet};
use meta::{SelectorOptions, compiled_selector, has_invalid_label_value, validate_label_selector_with};

/// What the template and the selector of a set may hold, as it is stored.
fn options(v: &Validation<'_>, old: Option<&DaemonSetSpec>) -> PodOptions {
    let mut options = PodOptions::of_template(v.context, old.map(|old| &old.template));
    let selector = old.and_then(|old| old.selector.as_deref());
    options.allow_invalid_values_of_pods |= selector.is_some_and(has_invalid_label_value);
    options
}

/// By hand: what is stored decides what selectors may hold, and the labels of the template are compared with this one.
pub fn validate_daemon_set_selector(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DaemonSetSpec,
    old: Option<&DaemonSetSpec>,
) {
    let selector = new.selector.as_deref();
    if let Some(selector) = selector {
        let allow_invalid_values = options(v, old).allow_invalid_values_of_pods;
        let options = SelectorOptions { allow_invalid_values, ..SelectorOptions::default() };
        validate_label_selector_with(v, &path.child("selector"), selector, options);
    }
    if let Some(selector) = compiled_selector(selector) {
        validate_selected(v, &path.child("template"), &new.template, &selector);
    }
}

/// By hand: what is stored decides what templates may hold.
pub fn validate_daemon_set_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DaemonSetSpec,
    old: Option<&DaemonSetSpec>,
) {
    let options = options(v, old);
    validate_pod_template_spec(v, &path.child("template"), &new.template, &options);
}

/// By hand: the message shows numbers that are not given as 0.
pub fn refuse_daemon_set_strategy(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DaemonSetUpdateStrategy,
    _: Option<&DaemonSetUpdateStrategy>,
) {
    let mut strategy = new.clone();
    if let Some(update) = strategy.rolling_update.as_deref_mut() {
        update.max_unavailable.get_or_insert_default();
        update.max_surge.get_or_insert_default();
    }
    v.not_supported(path, internal_value(&strategy), &["RollingUpdate", "OnDelete"]);
}

/// By hand: numbers and percentages are 0 in many spellings.
pub fn validate_progress_of_daemons(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &RollingUpdateDaemonSet,
    _: Option<&RollingUpdateDaemonSet>,
) {
    match (is_none(new.max_unavailable.as_ref()), is_none(new.max_surge.as_ref())) {
        (false, false) => {
            let surge = shown(new.max_surge.as_ref());
            v.invalid(&path.child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero");
        }
        (true, true) => v.required(&path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}
