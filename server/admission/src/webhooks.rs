//! `MutatingAdmissionWebhook` and `ValidatingAdmissionWebhook`: external servers that change and
//! reject objects.

mod call;
mod hook;
mod record;
mod users;

use std::sync::Arc;

use endpoints::AdmissionAttributes;
use futures_util::future::join_all;
use generated::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use machinery::json;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::{Informer, Informers};
use tokio::time::Instant;
use webhook::Services;

use super::lookup::find;
use super::metrics::Metrics;
use super::policies::{CompiledPolicies, GROUP, PolicyContext, PolicyRequest, is_subject};
use super::reinvocation::Reinvocation;
use super::step::AdmissionStep;
use call::MutationOutcome;
use hook::{Hook, Matched};
use record::WebhookCall;

pub use users::PluginUsers;

/// Watched webhook configurations.
pub struct Webhooks {
    context: Arc<PolicyContext>,
    services: Arc<Services>,
    mutating: Option<Informer<MutatingWebhookConfiguration>>,
    validating: Option<Informer<ValidatingWebhookConfiguration>>,
    compiled: CompiledPolicies,
    plugin_users: PluginUsers,
    metrics: Metrics,
}

impl Webhooks {
    /// Starts the informers. `plugin_users` are the credentials of webhook calls.
    pub fn start(
        context: Arc<PolicyContext>,
        (informers, services): (&Informers, Arc<Services>),
        plugin_users: PluginUsers,
        metrics: Metrics,
    ) -> Self {
        Webhooks {
            context,
            services,
            mutating: informers.of(GROUP, "mutatingwebhookconfigurations"),
            validating: informers.of(GROUP, "validatingwebhookconfigurations"),
            compiled: CompiledPolicies::default(),
            plugin_users,
            metrics,
        }
    }

    async fn subject<'r>(
        &'r self,
        attributes: &'r AdmissionAttributes,
        object: Option<&'r Owned>,
        old: Option<&'r Owned>,
    ) -> Result<PolicyRequest<'r>, Status> {
        let namespace = find(&self.context.stores, attributes, ("", "namespaces"), ("", &attributes.namespace)).await?;
        Ok(PolicyRequest { context: &self.context, attributes, object, old, namespace })
    }

    /// Calls the mutating webhooks in order. A deletion has no object to change.
    pub async fn mutate(
        &self,
        attributes: &AdmissionAttributes,
        mut object: Option<&mut Owned>,
        old: Option<&Owned>,
        rounds: &mut Reinvocation,
    ) -> Result<(), Status> {
        let configurations = self.mutating.as_ref().map(Informer::all).unwrap_or_default();
        if configurations.is_empty() || !is_subject(attributes) {
            return Ok(());
        }
        rounds.webhooks.begin(rounds.round, object.as_deref());
        let mut places = 0..;
        for configuration in &configurations {
            let programs = self.compiled.get(&configuration.metadata, || {
                configuration.webhooks.iter().map(|w| hook::conditions(&w.match_conditions)).collect::<Vec<_>>()
            });
            let name = &configuration.metadata.name;
            for ((webhook, conditions), index) in configuration.webhooks.iter().zip(programs.iter()).zip(&mut places) {
                let before = object.as_deref().cloned();
                let subject = self.subject(attributes, before.as_ref(), old).await?;
                let hook = Hook::of_mutating(webhook, conditions);
                let Some(matched) = hook.matched(&subject, AdmissionStep::Admit, &self.metrics)? else { continue };
                let key = format!("{name}/{}/{index}", hook.name);
                if !rounds.webhooks.should_invoke(rounds.round, &key) {
                    continue;
                }
                let webhook_call = WebhookCall {
                    configuration: name,
                    hook: &hook,
                    index,
                    round: rounds.round,
                    attributes,
                    services: &self.services,
                    users: &self.plugin_users.mutating,
                    metrics: &self.metrics,
                };
                if change(&webhook_call, &matched, &subject, object.as_deref_mut()).await? {
                    rounds.webhooks.require_reinvocation();
                    rounds.wanted = true;
                }
                if hook.reinvoke_if_needed {
                    rounds.webhooks.add_reinvocable(key);
                }
            }
        }
        rounds.webhooks.set_last_output(object.as_deref());
        Ok(())
    }

    /// Calls the validating webhooks concurrently.
    pub async fn validate(
        &self,
        attributes: &AdmissionAttributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let configurations = self.validating.as_ref().map(Informer::all).unwrap_or_default();
        if configurations.is_empty() || !is_subject(attributes) {
            return Ok(());
        }
        let subject = self.subject(attributes, object, old).await?;
        let mut matching: Vec<(&str, Hook<'_>, Matched)> = Vec::new();
        let compiled: Vec<_> = configurations
            .iter()
            .map(|configuration| {
                self.compiled.get(&configuration.metadata, || {
                    configuration.webhooks.iter().map(|w| hook::conditions(&w.match_conditions)).collect::<Vec<_>>()
                })
            })
            .collect();
        for (configuration, programs) in configurations.iter().zip(&compiled) {
            for (webhook, conditions) in configuration.webhooks.iter().zip(programs.iter()) {
                let hook = Hook::of_validating(webhook, conditions);
                if let Some(matched) = hook.matched(&subject, AdmissionStep::Validate, &self.metrics)? {
                    matching.push((&configuration.metadata.name, hook, matched));
                }
            }
        }
        let calls = matching.iter().enumerate().map(|(index, (configuration, hook, matched))| {
            let subject = &subject;
            let (services, users, metrics) = (&self.services, &self.plugin_users.validating, &self.metrics);
            let webhook_call =
                WebhookCall { configuration, hook, index, round: 0, attributes, services, users, metrics };
            async move { call::validating(&webhook_call, matched, subject).await }
        });
        let answers = attributes.trail.timed("validating-webhook", join_all(calls)).await;
        answers.into_iter().collect()
    }
}

/// Calls a webhook and applies its patch. Returns whether the object changed.
async fn change(
    webhook_call: &WebhookCall<'_>,
    matched: &Matched,
    subject: &PolicyRequest<'_>,
    object: Option<&mut Owned>,
) -> Result<bool, Status> {
    let begin = Instant::now();
    let mutation = call::mutating(webhook_call, matched, subject);
    let outcome = webhook_call.attributes.trail.timed("mutating-webhook", mutation).await?;
    let patch = match outcome {
        MutationOutcome::Unchanged => {
            webhook_call.record_mutation(|| false);
            webhook_call.observe_response(AdmissionStep::Admit, begin.elapsed(), &Ok(()));
            return Ok(false);
        }
        MutationOutcome::FailedOpen => {
            webhook_call.record_mutation(|| false);
            return Ok(false);
        }
        MutationOutcome::Patch(patch) => patch,
    };
    let patched = match object {
        Some(object) => apply(matched, subject, &patch).map(|patched| (object, patched)),
        None => {
            let name = webhook_call.hook.name;
            let why = "attempted to modify the object, which is not supported for this operation";
            Err(Status::internal(format!("admission webhook \"{name}\" {why}")))
        }
    };
    let (object, patched) = patched.inspect_err(|_| webhook_call.observe_invalid_patch(begin.elapsed()))?;
    let (patched, changed) = patched;
    *object = patched;
    webhook_call.record_patch(&patch);
    webhook_call.record_mutation(|| changed);
    webhook_call.observe_response(AdmissionStep::Admit, begin.elapsed(), &Ok(()));
    Ok(changed)
}

/// Applies a patch. Returns the object and whether it changed.
fn apply(matched: &Matched, subject: &PolicyRequest<'_>, patch: &[u8]) -> Result<(Owned, bool), Status> {
    let before = &matched.input.object;
    let patched = patch::json_patch(before, patch, &mut json::Issues::ignore())
        .map_err(|status| Status::internal(status.message))?;
    let object = subject.object_of(matched.kind, &patched)?;
    let changed = *before != subject.document(matched.kind, Some(&object))?;
    Ok((object, changed))
}
