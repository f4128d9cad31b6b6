//! The spec of jobs and of their templates.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::field::domain_prefixed_path;
use machinery::hooks::Validation;

use super::failure_policy::validate_failure_policy;
use super::success_policy::validate_success_policy;
use crate::core::internal::internal_value;
use crate::core::{PodOptions, validate_pod_template_spec};
use generated::batch::v1::JobSpec;
use meta::{SelectorOptions, compiled_selector, selects, validate_label_selector_with};

/// The mode in which every pod has a number.
pub(super) const INDEXED: &str = "Indexed";
const NON_INDEXED: &str = "NonIndexed";
const REPLACEMENT_POLICIES: [&str; 2] = ["Failed", "TerminatingOrFailed"];
const MAX_MANAGER: usize = 63;
const MAX_INDEXED: i32 = 100_000;
/// From this many completions on, less may run and fail.
const MANY: i32 = 100_000;
const MAX_OF_MANY: i32 = 10_000;
const INDEXED_ONLY: &str = "requires indexed completion mode";

/// `ValidateJobSpec`
pub(super) fn validate_spec_with_selector(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &JobSpec,
    options: &PodOptions,
) {
    validate_spec(v, path, spec, options);
    let (selector, selector_path) = (spec.selector.as_deref(), path.child("selector"));
    match selector {
        None => v.required(&selector_path, ""),
        Some(selector) => {
            let allow_invalid_values = options.allow_invalid_values_of_pods;
            let options = SelectorOptions { allow_invalid_values, ..SelectorOptions::default() };
            validate_label_selector_with(v, &selector_path, selector, options);
        }
    }
    let labels = &spec.template.metadata.labels;
    if compiled_selector(selector).is_some_and(|selector| !selects(&selector, labels)) {
        let path = path.child("template");
        let path = path.child("metadata");
        let detail = "`selector` does not match template `labels`";
        v.invalid(&path.child("labels"), BadValue::string_map(labels), detail);
    }
}

/// `validateJobSpec`
pub(super) fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &JobSpec, options: &PodOptions) {
    validate_numbers(v, path, spec);
    if let Some(manager) = &spec.managed_by {
        let path = path.child("managedBy");
        v.errors.extend(domain_prefixed_path(&path, manager));
        if manager.len() > MAX_MANAGER {
            v.too_long(&path, MAX_MANAGER);
        }
    }
    if let Some(mode) = spec.completion_mode.as_deref() {
        v.one_of(&path.child("completionMode"), mode, &[NON_INDEXED, INDEXED]);
        if mode == INDEXED {
            validate_indexed(v, path, spec);
        }
    }
    if matches!(spec.completion_mode.as_deref(), None | Some(NON_INDEXED)) {
        for (field, number) in
            [("backoffLimitPerIndex", spec.backoff_limit_per_index), ("maxFailedIndexes", spec.max_failed_indexes)]
        {
            if let Some(number) = number {
                v.invalid(&path.child(field), number, INDEXED_ONLY);
            }
        }
    }
    validate_policies(v, path, spec);
    let template = path.child("template");
    validate_pod_template_spec(v, &template, &spec.template, options);
    validate_restart_policy(v, &template.child("spec").child("restartPolicy"), spec);
}

fn validate_numbers(v: &mut Validation<'_>, path: &Path<'_>, spec: &JobSpec) {
    for (field, number) in [
        ("parallelism", spec.parallelism.map(i64::from)),
        ("completions", spec.completions.map(i64::from)),
        ("activeDeadlineSeconds", spec.active_deadline_seconds),
        ("backoffLimit", spec.backoff_limit.map(i64::from)),
        ("ttlSecondsAfterFinished", spec.ttl_seconds_after_finished.map(i64::from)),
        ("backoffLimitPerIndex", spec.backoff_limit_per_index.map(i64::from)),
        ("maxFailedIndexes", spec.max_failed_indexes.map(i64::from)),
    ] {
        if let Some(number) = number {
            v.not_negative(&path.child(field), number);
        }
    }
    if spec.max_failed_indexes.is_some() && spec.backoff_limit_per_index.is_none() {
        v.required(&path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
}

/// What numbered pods ask for; their numbers have to fit into the status.
fn validate_indexed(v: &mut Validation<'_>, path: &Path<'_>, spec: &JobSpec) {
    let (parallelism, max_failed) = (path.child("parallelism"), path.child("maxFailedIndexes"));
    if spec.completions.is_none() {
        v.required(&path.child("completions"), "when completion mode is Indexed");
    }
    if let Some(number) = spec.parallelism.filter(|number| *number > MAX_INDEXED) {
        let detail = format!("must be less than or equal to {MAX_INDEXED} when completion mode is Indexed");
        v.invalid(&parallelism, number, detail);
    }
    if let (Some(completions), Some(failed)) = (spec.completions, spec.max_failed_indexes)
        && failed > completions
    {
        v.invalid(&max_failed, failed, "must be less than or equal to completions");
    }
    if let Some(number) = spec.max_failed_indexes.filter(|number| *number > MAX_INDEXED) {
        v.invalid(&max_failed, number, format!("must be less than or equal to {MAX_INDEXED}"));
    }
    if spec.completions.is_none_or(|completions| completions <= MANY) || spec.backoff_limit_per_index.is_none() {
        return;
    }
    if spec.max_failed_indexes.is_none() {
        v.required(&max_failed, format!("must be specified when completions is above {MANY}"));
    }
    for (path, number) in [(&parallelism, spec.parallelism), (&max_failed, spec.max_failed_indexes)] {
        if let Some(number) = number.filter(|number| *number > MAX_OF_MANY) {
            let detail = format!(
                "must be less than or equal to {MAX_OF_MANY} when completions are above {MANY} and used with backoff limit per index"
            );
            v.invalid(path, number, detail);
        }
    }
}

fn validate_policies(v: &mut Validation<'_>, path: &Path<'_>, spec: &JobSpec) {
    if let Some(policy) = spec.pod_failure_policy.as_deref() {
        validate_failure_policy(v, &path.child("podFailurePolicy"), spec, policy);
    }
    if let Some(policy) = spec.success_policy.as_deref() {
        let path = path.child("successPolicy");
        if spec.completion_mode.as_deref() == Some(INDEXED) {
            validate_success_policy(v, &path, spec, policy);
        } else {
            v.invalid(&path, internal_value(policy), INDEXED_ONLY);
        }
    }
    if let Some(policy) = &spec.pod_replacement_policy {
        // With a failure policy pods have to fail before they are replaced.
        let known = if spec.pod_failure_policy.is_some() { &REPLACEMENT_POLICIES[..1] } else { &REPLACEMENT_POLICIES };
        v.one_of(&path.child("podReplacementPolicy"), policy, known);
    }
}

/// Pods of jobs end; pods get another policy by default, which is no choice.
fn validate_restart_policy(v: &mut Validation<'_>, path: &Path<'_>, spec: &JobSpec) {
    match spec.template.spec.restart_policy.as_str() {
        "" | "Always" => v.required(path, r#"valid values: "OnFailure", "Never""#),
        "Never" => {}
        "OnFailure" if spec.pod_failure_policy.is_none() => {}
        "OnFailure" => {
            let detail = r#"only "Never" is supported when podFailurePolicy is specified"#;
            v.invalid(path, BadValue::json_string("OnFailure"), detail);
        }
        unknown => v.one_of(path, unknown, &["OnFailure", "Never"]),
    }
}
