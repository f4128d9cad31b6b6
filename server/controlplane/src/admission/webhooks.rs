//! `MutatingAdmissionWebhook` and `ValidatingAdmissionWebhook`: programs elsewhere that change and refuse objects.

mod call;
mod hook;
mod record;

use std::sync::Arc;

use endpoints::{Attributes, Environment, internal};
use futures_util::future::join_all;
use generated::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use generated::core::v1::Namespace;
use machinery::json;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Informer;

use super::find;
use super::policies::{Cache, GROUP, Subject, document, is_subject};
use hook::{Hook, Matched};
use record::Called;

/// All configurations, followed.
pub struct Webhooks {
    environment: Arc<Environment>,
    mutating: Option<Informer<MutatingWebhookConfiguration>>,
    validating: Option<Informer<ValidatingWebhookConfiguration>>,
    compiled: Cache,
}

impl Webhooks {
    /// Begins to follow configurations.
    pub fn start(environment: &Arc<Environment>) -> Self {
        let informers = &environment.informers;
        Webhooks {
            environment: environment.clone(),
            mutating: informers.of(GROUP, "mutatingwebhookconfigurations"),
            validating: informers.of(GROUP, "validatingwebhookconfigurations"),
            compiled: Cache::default(),
        }
    }

    async fn subject<'r>(
        &'r self,
        attributes: &'r Attributes,
        object: Option<&'r Owned>,
        old: Option<&'r Owned>,
    ) -> Result<Subject<'r>, Status> {
        let namespace = find::<Namespace>(&self.environment, ("", "namespaces"), "", &attributes.namespace).await?;
        Ok(Subject { environment: &self.environment, attributes, object, old, namespace })
    }

    /// Lets webhooks change an object, one after the other.
    pub async fn mutate(&self, attributes: &Attributes, object: &mut Owned, old: Option<&Owned>) -> Result<(), Status> {
        let configurations = self.mutating.as_ref().map(Informer::all).unwrap_or_default();
        if configurations.is_empty() || !is_subject(attributes) {
            return Ok(());
        }
        let mut places = 0..;
        for configuration in &configurations {
            let programs = self.compiled.get(&configuration.metadata, || {
                configuration.webhooks.iter().map(|w| hook::conditions(&w.match_conditions)).collect::<Vec<_>>()
            });
            for ((webhook, conditions), index) in configuration.webhooks.iter().zip(programs.iter()).zip(&mut places) {
                let before = object.clone();
                let subject = self.subject(attributes, Some(&before), old).await?;
                let hook = Hook::of_mutating(webhook, conditions);
                let Some(matched) = hook.matched(&subject)? else { continue };
                let called = Called { configuration: &configuration.metadata.name, hook: &hook, index, attributes };
                let call = call::mutating(&called, &matched, &subject);
                let Some(patch) = attributes.trail.timed("mutating-webhook", call).await? else {
                    called.mutated(|| false);
                    continue;
                };
                let kind = matched.kind;
                let patched = patch::json_patch(&document(kind, Some(&before)), &patch, &mut json::Issues::ignore())
                    .map_err(|status| Status::internal(status.message))?;
                let mut value = Owned::new(kind.def);
                json::from_value_version(&patched, kind.version, value.as_mut(), &mut json::Issues::ignore())
                    .map_err(Status::internal)?;
                *object = internal(kind, value);
                called.patched(&patch);
                called.mutated(|| document(kind, Some(&before)) != document(kind, Some(object)));
            }
        }
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
                if let Some(matched) = hook.matched(&subject)? {
                    asked.push((&configuration.metadata.name, hook, matched));
                }
            }
        }
        let calls = asked.iter().enumerate().map(|(index, (configuration, hook, matched))| {
            let subject = &subject;
            async move { call::validating(&Called { configuration, hook, index, attributes }, matched, subject).await }
        });
        let answers = attributes.trail.timed("validating-webhook", join_all(calls)).await;
        answers.into_iter().collect()
    }
}
