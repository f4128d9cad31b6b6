//! Daemon sets.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::IntOrString;

use super::percent::{is_none, shown, validate_count_or_percent, validate_not_more_than_all};
use super::selector::{validate_not_empty, validate_runs_on, validate_same_selector, validate_selected};
use super::status::{validate_collisions, validate_counts};
use crate::core::internal::internal_value;
use crate::core::{PodOptions, validate_pod_template_spec};
use generated::apps::v1::{DaemonSet, DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy, RollingUpdateDaemonSet};
use meta::{SelectorOptions, compiled_selector, has_invalid_label_value, validate_label_selector_with};

/// `ValidateDaemonSet`, `ValidateDaemonSetUpdate`, `ValidateDaemonSetStatusUpdate`. The generation of the template, which clients do
/// not see, is the server's own.
pub fn validate_daemon_set(v: &mut Validation<'_>, _: &Path<'_>, new: &DaemonSet, old: Option<&DaemonSet>) {
    if v.context.subresource == "status" {
        let path = Path::new("status");
        validate_status(v, &path, &new.status);
        let before = old.and_then(|old| old.status.collision_count);
        return validate_collisions(v, &path, new.status.collision_count, before);
    }
    let path = Path::new("spec");
    let mut options = PodOptions::of_template(v.context, old.map(|old| &old.spec.template));
    if let Some(old) = old {
        let (new, old) = (new.spec.selector.as_deref(), old.spec.selector.as_deref());
        validate_same_selector(v, &path.child("selector"), new, old);
        options.allow_invalid_values_of_pods |= old.is_some_and(has_invalid_label_value);
    }
    validate_spec(v, &path, &new.spec, &options);
}

/// `ValidateDaemonSetSpec`
fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &DaemonSetSpec, options: &PodOptions) {
    let (selector, selector_path) = (spec.selector.as_deref(), path.child("selector"));
    if let Some(selector) = selector {
        let options = SelectorOptions {
            allow_invalid_values: options.allow_invalid_values_of_pods,
            ..SelectorOptions::default()
        };
        validate_label_selector_with(v, &selector_path, selector, options);
    }
    let template = path.child("template");
    if let Some(selector) = compiled_selector(selector) {
        validate_selected(v, &template, &spec.template, &selector);
    }
    if let Some(selector) = selector {
        validate_not_empty(v, &selector_path, selector, "daemonset");
    }
    validate_pod_template_spec(v, &template, &spec.template, options);
    validate_runs_on(v, &template.child("spec"), &spec.template, "DaemonSet");
    v.not_negative(&path.child("minReadySeconds"), spec.min_ready_seconds);
    validate_strategy(v, &path.child("updateStrategy"), &spec.update_strategy);
    if let Some(limit) = spec.revision_history_limit {
        v.not_negative(&path.child("revisionHistoryLimit"), limit);
    }
}

/// `ValidateDaemonSetUpdateStrategy`
fn validate_strategy(v: &mut Validation<'_>, path: &Path<'_>, strategy: &DaemonSetUpdateStrategy) {
    let rolling = path.child("rollingUpdate");
    match (strategy.r#type.as_str(), strategy.rolling_update.as_deref()) {
        ("OnDelete", _) => {}
        ("RollingUpdate", None) => v.required(&rolling, ""),
        ("RollingUpdate", Some(update)) => validate_rolling_update(v, &rolling, update),
        _ => v.not_supported(path, shown_strategy(strategy), &["RollingUpdate", "OnDelete"]),
    }
}

/// Inside, numbers that are not said are zero.
fn shown_strategy(strategy: &DaemonSetUpdateStrategy) -> BadValue {
    let mut strategy = strategy.clone();
    if let Some(update) = strategy.rolling_update.as_deref_mut() {
        update.max_unavailable.get_or_insert_default();
        update.max_surge.get_or_insert_default();
    }
    internal_value(&strategy)
}

/// `ValidateRollingUpdateDaemonSet`
fn validate_rolling_update(v: &mut Validation<'_>, path: &Path<'_>, update: &RollingUpdateDaemonSet) {
    let none = IntOrString::default();
    let (unavailable, surge) =
        (update.max_unavailable.as_ref().unwrap_or(&none), update.max_surge.as_ref().unwrap_or(&none));
    let (unavailable_path, surge_path) = (path.child("maxUnavailable"), path.child("maxSurge"));
    validate_count_or_percent(v, &unavailable_path, unavailable);
    validate_count_or_percent(v, &surge_path, surge);
    validate_not_more_than_all(v, &unavailable_path, unavailable);
    validate_not_more_than_all(v, &surge_path, surge);
    match (is_none(unavailable), is_none(surge)) {
        (false, false) => v.invalid(&surge_path, shown(surge), "may not be set when maxUnavailable is non-zero"),
        (true, true) => v.required(&unavailable_path, "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}

/// `validateDaemonSetStatus`
fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &DaemonSetStatus) {
    let s = status;
    validate_counts(
        v,
        path,
        &[
            ("currentNumberScheduled", Some(s.current_number_scheduled.into())),
            ("numberMisscheduled", Some(s.number_misscheduled.into())),
            ("desiredNumberScheduled", Some(s.desired_number_scheduled.into())),
            ("numberReady", Some(s.number_ready.into())),
            ("observedGeneration", Some(s.observed_generation)),
            ("updatedNumberScheduled", Some(s.updated_number_scheduled.into())),
            ("numberAvailable", Some(s.number_available.into())),
            ("numberUnavailable", Some(s.number_unavailable.into())),
            ("collisionCount", s.collision_count.map(i64::from)),
        ],
    );
}
