//! The common part of both webhook types, and the matching of requests.

use std::time::Duration;

use apimachinery::meta::v1::LabelSelector;
use cel::{CostBudget, Type};
use generated::admissionregistration::v1::{
    MatchCondition, MutatingWebhook, RuleWithOperations, ValidatingWebhook, WebhookClientConfig, failure_policy_type,
    reinvocation_policy_type, side_effect_class,
};
use kubernetes::admissionregistration::{Available, environment};
use machinery::catalog::KindDef;
use machinery::status::Status;

use crate::forbidden;
use crate::metrics::Metrics;
use crate::policies::{Activation, Expression, Input, PolicyRequest, conditions_hold};
use crate::step::AdmissionStep;

/// Default timeout of webhooks, in seconds.
const DEFAULT_TIMEOUT: i32 = 10;

/// The compiled match conditions of a webhook.
pub type CompiledConditions = Vec<(String, Expression)>;

pub fn conditions(match_conditions: &[MatchCondition]) -> CompiledConditions {
    let environment = environment(Available { params: false, authorizer: true, patches: false });
    let compile =
        |c: &MatchCondition| (c.name.clone(), Expression::new(c.expression.trim(), &environment, &[Type::Bool]));
    match_conditions.iter().map(compile).collect()
}

/// A webhook.
pub struct Hook<'w> {
    pub name: &'w str,
    pub client: &'w WebhookClientConfig,
    pub timeout: Duration,
    /// Whether to reinvoke the webhook when a later plugin changes the object.
    pub reinvoke_if_needed: bool,
    /// Whether to ignore failed calls.
    pub ignores_failure: bool,
    versions: &'w [String],
    rules: &'w [RuleWithOperations],
    match_policy: Option<&'w str>,
    namespace_selector: Option<&'w LabelSelector>,
    object_selector: Option<&'w LabelSelector>,
    side_effects: Option<&'w str>,
    conditions: &'w CompiledConditions,
}

macro_rules! hook {
    ($w:expr, $conditions:expr, $again:expr) => {
        Hook {
            name: &$w.name,
            client: &$w.client_config,
            timeout: Duration::from_secs($w.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT).max(1) as u64),
            reinvoke_if_needed: $again,
            ignores_failure: $w.failure_policy.as_deref() == Some(failure_policy_type::IGNORE),
            versions: &$w.admission_review_versions,
            rules: &$w.rules,
            match_policy: $w.match_policy.as_deref(),
            namespace_selector: $w.namespace_selector.as_deref(),
            object_selector: $w.object_selector.as_deref(),
            side_effects: $w.side_effects.as_deref(),
            conditions: $conditions,
        }
    };
}

/// A request that matches a webhook, in the version that the webhook matches.
pub struct Matched {
    pub kind: &'static KindDef,
    pub input: Input,
}

impl<'w> Hook<'w> {
    pub fn of_mutating(webhook: &'w MutatingWebhook, conditions: &'w CompiledConditions) -> Self {
        hook!(webhook, conditions, webhook.reinvocation_policy.as_deref() == Some(reinvocation_policy_type::IF_NEEDED))
    }

    pub fn of_validating(webhook: &'w ValidatingWebhook, conditions: &'w CompiledConditions) -> Self {
        hook!(webhook, conditions, false)
    }

    /// Returns the version of the AdmissionReview to send.
    pub fn review_version(&self) -> &'static str {
        let known = self.versions.iter().find_map(|v| ["v1", "v1beta1"].into_iter().find(|known| v == known));
        known.unwrap_or("v1")
    }

    /// Matches a request against the webhook.
    pub fn matched(
        &self,
        subject: &PolicyRequest<'_>,
        step: AdmissionStep,
        metrics: &Metrics,
    ) -> Result<Option<Matched>, Status> {
        let seen = subject.named_by(self.rules.iter(), self.match_policy);
        let Some(seen) = seen.filter(|_| subject.selected(self.namespace_selector, self.object_selector)) else {
            return Ok(None);
        };
        let input = Input::new(subject, seen).map_err(|status| Status::internal(status.message))?;
        let activation = Activation::of_conditions(&input, None);
        let operation = subject.attributes.operation;
        let condition_metrics = metrics.of_webhook(self.name, step, operation);
        let excluded = || metrics.excluded(self.name, step, operation);
        match conditions_hold(self.conditions, &activation, &mut CostBudget::default(), condition_metrics) {
            Ok(true) => {}
            Ok(false) => {
                excluded();
                return Ok(None);
            }
            Err(_) if self.ignores_failure => {
                excluded();
                return Ok(None);
            }
            Err(why) => return Err(forbidden(subject.attributes, why)),
        }
        drop(activation);
        let harmless = matches!(self.side_effects, Some(side_effect_class::NONE | side_effect_class::NONE_ON_DRY_RUN));
        if subject.attributes.dry_run && !harmless {
            let why = format!("admission webhook \"{}\" does not support dry run", self.name);
            return Err(Status::bad_request(why));
        }
        Ok(Some(Matched { kind: seen.kind, input }))
    }
}
