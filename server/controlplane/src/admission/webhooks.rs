//! `MutatingAdmissionWebhook` and `ValidatingAdmissionWebhook`: programs elsewhere that change and refuse objects.

mod call;
mod hook;
mod known;
mod record;

use std::sync::Arc;

use endpoints::{Attributes, ServerContext};
use futures_util::future::join_all;
use generated::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use machinery::json;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Informer;
use tokio::time::Instant;

use super::lookup::find;
use super::metrics::{Metrics, Step};
use super::policies::{Cache, GROUP, Subject, is_subject};
use super::reinvocation::Reinvocation;
use call::Wish;
use hook::{Hook, Matched};
use record::Called;

pub use known::Known;

/// All configurations, followed.
pub struct Webhooks {
    environment: Arc<ServerContext>,
    mutating: Option<Informer<MutatingWebhookConfiguration>>,
    validating: Option<Informer<ValidatingWebhookConfiguration>>,
    compiled: Cache,
    known: Known,
    metrics: Metrics,
}

impl Webhooks {
    /// Begins to follow configurations. Webhooks are called as the users that are `known` to them.
    pub fn start(environment: &Arc<ServerContext>, known: Known, metrics: Metrics) -> Self {
        let informers = &environment.informers;
        Webhooks {
            environment: environment.clone(),
            mutating: informers.of(GROUP, "mutatingwebhookconfigurations"),
            validating: informers.of(GROUP, "validatingwebhookconfigurations"),
            compiled: Cache::default(),
            known,
            metrics,
        }
    }

    async fn subject<'r>(
        &'r self,
        attributes: &'r Attributes,
        object: Option<&'r Owned>,
        old: Option<&'r Owned>,
    ) -> Result<Subject<'r>, Status> {
        let namespace = find(&self.environment, attributes, ("", "namespaces"), ("", &attributes.namespace)).await?;
        Ok(Subject { environment: &self.environment, attributes, object, old, namespace })
    }

    /// Lets webhooks change an object, one after the other. What is removed cannot be changed: there is no object then.
    pub async fn mutate(
        &self,
        attributes: &Attributes,
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
                let Some(matched) = hook.matched(&subject, Step::Admit, &self.metrics)? else { continue };
                let key = format!("{name}/{}/{index}", hook.name);
                if !rounds.webhooks.is_asked(rounds.round, &key) {
                    continue;
                }
                let (round, metrics, users) = (rounds.round, &self.metrics, &self.known.mutating);
                let called = Called { configuration: name, hook: &hook, index, round, attributes, users, metrics };
                if change(&called, &matched, &subject, object.as_deref_mut()).await? {
                    rounds.webhooks.changed();
                    rounds.wanted = true;
                }
                if hook.is_asked_again {
                    rounds.webhooks.asked(key);
                }
            }
        }
        rounds.webhooks.end(object.as_deref());
        Ok(())
    }

    /// Asks all webhooks at once whether an object may be stored or removed.
    pub async fn validate(
        &self,
        attributes: &Attributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let configurations = self.validating.as_ref().map(Informer::all).unwrap_or_default();
        if configurations.is_empty() || !is_subject(attributes) {
            return Ok(());
        }
        let subject = self.subject(attributes, object, old).await?;
        let mut asked: Vec<(&str, Hook<'_>, Matched)> = Vec::new();
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
                if let Some(matched) = hook.matched(&subject, Step::Validate, &self.metrics)? {
                    asked.push((&configuration.metadata.name, hook, matched));
                }
            }
        }
        let calls = asked.iter().enumerate().map(|(index, (configuration, hook, matched))| {
            let subject = &subject;
            let (users, metrics) = (&self.known.validating, &self.metrics);
            let called = Called { configuration, hook, index, round: 0, attributes, users, metrics };
            async move { call::validating(&called, matched, subject).await }
        });
        let answers = attributes.trail.timed("validating-webhook", join_all(calls)).await;
        answers.into_iter().collect()
    }
}

/// Asks a webhook, and does what it wants done to the object; whether that changed it.
async fn change(
    called: &Called<'_>,
    matched: &Matched,
    subject: &Subject<'_>,
    object: Option<&mut Owned>,
) -> Result<bool, Status> {
    let begin = Instant::now();
    let asked = call::mutating(called, matched, subject);
    let wish = called.attributes.trail.timed("mutating-webhook", asked).await?;
    let patch = match wish {
        Wish::Nothing => {
            called.mutated(|| false);
            called.answered(Step::Admit, begin.elapsed(), &Ok(()));
            return Ok(false);
        }
        Wish::Unknown => {
            called.mutated(|| false);
            return Ok(false);
        }
        Wish::Patch(patch) => patch,
    };
    let patched = match object {
        Some(object) => apply(matched, subject, &patch).map(|patched| (object, patched)),
        None => {
            let name = called.hook.name;
            let why = "attempted to modify the object, which is not supported for this operation";
            Err(Status::internal(format!("admission webhook \"{name}\" {why}")))
        }
    };
    let (object, patched) = patched.inspect_err(|_| called.impossible(begin.elapsed()))?;
    let (patched, changed) = patched;
    *object = patched;
    called.patched(&patch);
    called.mutated(|| changed);
    called.answered(Step::Admit, begin.elapsed(), &Ok(()));
    Ok(changed)
}

/// The object with a patch applied, and whether the patch changed it.
fn apply(matched: &Matched, subject: &Subject<'_>, patch: &[u8]) -> Result<(Owned, bool), Status> {
    let before = &matched.input.object;
    let patched = patch::json_patch(before, patch, &mut json::Issues::ignore())
        .map_err(|status| Status::internal(status.message))?;
    let object = subject.object_of(matched.kind, &patched)?;
    let changed = *before != subject.document(matched.kind, Some(&object))?;
    Ok((object, changed))
}
