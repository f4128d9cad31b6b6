//! Configurations of webhooks.

use std::collections::HashSet;

use apimachinery::meta::v1::LabelSelector;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, field::fully_qualified_name};
use machinery::hooks::Validation;
use meta::{SelectorOptions, is_valid_selector, validate_label_selector_with};

use super::client::validate_client_config;
use super::conditions::validate_match_conditions;
use super::rules::validate_rule;
use super::{FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES};
use generated::admissionregistration::v1::{
    MatchCondition, MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ValidatingWebhook,
    ValidatingWebhookConfiguration, WebhookClientConfig,
};

const SIDE_EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];
const NO_SIDE_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
const MAX_TIMEOUT: i32 = 30;

/// What webhooks of both kinds say.
struct Webhook<'w> {
    name: &'w str,
    client_config: &'w WebhookClientConfig,
    rules: &'w [RuleWithOperations],
    failure_policy: Option<&'w str>,
    match_policy: Option<&'w str>,
    namespace_selector: Option<&'w LabelSelector>,
    object_selector: Option<&'w LabelSelector>,
    side_effects: Option<&'w str>,
    timeout_seconds: Option<i32>,
    review_versions: &'w [String],
    reinvocation_policy: Option<&'w str>,
    match_conditions: &'w [MatchCondition],
}

macro_rules! webhook {
    ($from:expr, $reinvocation_policy:expr) => {
        Webhook {
            name: &$from.name,
            client_config: &$from.client_config,
            rules: &$from.rules,
            failure_policy: $from.failure_policy.as_deref(),
            match_policy: $from.match_policy.as_deref(),
            namespace_selector: $from.namespace_selector.as_deref(),
            object_selector: $from.object_selector.as_deref(),
            side_effects: $from.side_effects.as_deref(),
            timeout_seconds: $from.timeout_seconds,
            review_versions: &$from.admission_review_versions,
            reinvocation_policy: $reinvocation_policy,
            match_conditions: &$from.match_conditions,
        }
    };
}

impl<'w> From<&'w ValidatingWebhook> for Webhook<'w> {
    fn from(webhook: &'w ValidatingWebhook) -> Self {
        webhook!(webhook, None)
    }
}

impl<'w> From<&'w MutatingWebhook> for Webhook<'w> {
    fn from(webhook: &'w MutatingWebhook) -> Self {
        webhook!(webhook, webhook.reinvocation_policy.as_deref())
    }
}

/// `ValidateValidatingWebhookConfiguration`, `ValidateValidatingWebhookConfigurationUpdate`
pub fn validate_validating_webhooks(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ValidatingWebhookConfiguration,
    old: Option<&ValidatingWebhookConfiguration>,
) {
    let new: Vec<_> = new.webhooks.iter().map(Webhook::from).collect();
    let old: Option<Vec<_>> = old.map(|old| old.webhooks.iter().map(Webhook::from).collect());
    validate(v, &new, old.as_deref());
}

/// `ValidateMutatingWebhookConfiguration`, `ValidateMutatingWebhookConfigurationUpdate`
pub fn validate_mutating_webhooks(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &MutatingWebhookConfiguration,
    old: Option<&MutatingWebhookConfiguration>,
) {
    let new: Vec<_> = new.webhooks.iter().map(Webhook::from).collect();
    let old: Option<Vec<_>> = old.map(|old| old.webhooks.iter().map(Webhook::from).collect());
    validate(v, &new, old.as_deref());
}

/// What is asked only where the stored configuration has it (upstream's `validationOptions`).
struct Options {
    same_conditions: bool,
    no_side_effects: bool,
    known_versions: bool,
    unique_names: bool,
    selectors: SelectorOptions,
}

impl Options {
    fn of(new: &[Webhook<'_>], old: Option<&[Webhook<'_>]>) -> Self {
        let valid = |selector: Option<&LabelSelector>| selector.is_none_or(is_valid_selector);
        let mut names = HashSet::new();
        Options {
            same_conditions: old.is_some_and(|old| {
                let pairs = || new.iter().zip(old);
                new.len() == old.len() && pairs().all(|(new, old)| new.match_conditions == old.match_conditions)
            }),
            no_side_effects: old.is_none_or(|old| old.iter().all(Webhook::has_no_side_effects)),
            known_versions: old.is_none_or(|old| old.iter().all(Webhook::has_known_version)),
            unique_names: old.is_none_or(|old| old.iter().all(|webhook| names.insert(webhook.name))),
            selectors: SelectorOptions {
                allow_invalid_values: old.is_some_and(|old| {
                    old.iter().any(|hook| !valid(hook.namespace_selector) || !valid(hook.object_selector))
                }),
                ..SelectorOptions::default()
            },
        }
    }
}

impl Webhook<'_> {
    fn has_no_side_effects(&self) -> bool {
        self.side_effects.is_some_and(|class| NO_SIDE_EFFECTS.contains(&class))
    }

    fn has_known_version(&self) -> bool {
        self.review_versions.is_empty() || self.review_versions.iter().any(|v| REVIEW_VERSIONS.contains(&v.as_str()))
    }
}

fn validate(v: &mut Validation<'_>, new: &[Webhook<'_>], old: Option<&[Webhook<'_>]>) {
    let (options, path, mut names) = (Options::of(new, old), Path::new("webhooks"), HashSet::new());
    for (index, webhook) in new.iter().enumerate() {
        let path = path.index(index);
        validate_webhook(v, &path, webhook, &options);
        validate_review_versions(v, &path.child("admissionReviewVersions"), webhook.review_versions, &options);
        if options.unique_names && !webhook.name.is_empty() && !names.insert(webhook.name) {
            v.duplicate(&path.child("name"), webhook.name);
        }
    }
}

/// `validateValidatingWebhook`, `validateMutatingWebhook`
fn validate_webhook(v: &mut Validation<'_>, path: &Path<'_>, webhook: &Webhook<'_>, options: &Options) {
    v.errors.extend(fully_qualified_name(&path.child("name"), webhook.name));
    for (index, rule) in webhook.rules.iter().enumerate() {
        validate_rule(v, &path.child("rules").index(index), rule);
    }
    if let Some(policy) = webhook.failure_policy {
        v.one_of(&path.child("failurePolicy"), policy, &FAILURE_POLICIES);
    }
    if let Some(policy) = webhook.match_policy {
        v.one_of(&path.child("matchPolicy"), policy, &MATCH_POLICIES);
    }
    let allowed: &[&str] = if options.no_side_effects { &NO_SIDE_EFFECTS } else { &SIDE_EFFECTS };
    match webhook.side_effects {
        None => v.required(&path.child("sideEffects"), format!("must specify one of {}", allowed.join(", "))),
        Some(class) => v.one_of(&path.child("sideEffects"), class, allowed),
    }
    if let Some(seconds) = webhook.timeout_seconds.filter(|seconds| !(1..=MAX_TIMEOUT).contains(seconds)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        v.invalid(&path.child("timeoutSeconds"), seconds, detail);
    }
    for (field, selector) in
        [("namespaceSelector", webhook.namespace_selector), ("objectSelector", webhook.object_selector)]
    {
        if let Some(selector) = selector {
            validate_label_selector_with(v, &path.child(field), selector, options.selectors);
        }
    }
    if let Some(policy) = webhook.reinvocation_policy {
        v.one_of(&path.child("reinvocationPolicy"), policy, &REINVOCATION_POLICIES);
    }
    validate_client_config(v, &path.child("clientConfig"), webhook.client_config);
    if !options.same_conditions {
        validate_match_conditions(v, &path.child("matchConditions"), webhook.match_conditions, false);
    }
}

/// `validateAdmissionReviewVersions`
fn validate_review_versions(v: &mut Validation<'_>, path: &Path<'_>, versions: &[String], options: &Options) {
    let known = REVIEW_VERSIONS.join(", ");
    if versions.is_empty() {
        return v.required(path, format!("must specify one of {known}"));
    }
    let (mut seen, mut has_known) = (HashSet::new(), false);
    for (index, version) in versions.iter().enumerate() {
        let path = path.index(index);
        if !seen.insert(version) {
            v.invalid(&path, version, "duplicate version");
            continue;
        }
        v.malformed(&path, version, format::is_dns1035_label(version));
        has_known |= REVIEW_VERSIONS.contains(&version.as_str());
    }
    if options.known_versions && !has_known {
        let shown = BadValue::strings(versions);
        v.invalid(path, shown, format!("must include at least one of {known}"));
    }
}
