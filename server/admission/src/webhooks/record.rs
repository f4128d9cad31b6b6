//! Audit annotations and metrics of webhook calls (upstream: `webhookAnnotator`).

use std::time::Duration;

use audit::Level;
use endpoints::AdmissionAttributes;
use generated::admissionregistration::v1::patch_type;
use machinery::status::Status;
use serde_json::{Value as Json, json};
use webhook::{Services, Users};

use super::hook::Hook;
use crate::metrics::{Metrics, Rejection};
use crate::step::AdmissionStep;

const MUTATION: &str = "mutation.webhook.admission.k8s.io";
const PATCH: &str = "patch.webhook.admission.k8s.io";
/// Annotations for failed webhook calls that were ignored.
pub const MUTATING_FAILED_OPEN: &str = "failed-open.mutation.webhook.admission.k8s.io";
pub const VALIDATING_FAILED_OPEN: &str = "failed-open.validating.webhook.admission.k8s.io";

/// A webhook call, identified by the index of the webhook among those of its type.
pub struct WebhookCall<'c> {
    pub configuration: &'c str,
    pub hook: &'c Hook<'c>,
    pub index: usize,
    /// 0 in the first round, 1 for a reinvocation.
    pub round: usize,
    pub attributes: &'c AdmissionAttributes,
    /// Connects to the webhook.
    pub services: &'c Services,
    /// The credentials of this server.
    pub users: &'c Users,
    pub metrics: &'c Metrics,
}

impl WebhookCall<'_> {
    fn key(&self, prefix: &str) -> String {
        format!("{prefix}/round_{}_index_{}", self.round, self.index)
    }

    /// Records a response: success, or the rejection that the client receives.
    pub fn observe_response(&self, step: AdmissionStep, took: Duration, outcome: &Result<(), Status>) {
        let (code, rejection) = match outcome {
            Ok(()) => (200, None),
            Err(status) => (status.code, Some(Rejection::NoError)),
        };
        self.metrics.observe_call(self.hook.name, step, self.attributes, took, code, rejection);
    }

    /// Records a failed call or an invalid response.
    pub fn observe_failure(&self, step: AdmissionStep, took: Duration, code: u16) {
        let rejection = (!self.hook.ignores_failure).then_some(Rejection::CallingWebhook);
        self.metrics.observe_call(self.hook.name, step, self.attributes, took, code, rejection);
        if self.hook.ignores_failure {
            self.metrics.failed_open(self.hook.name, step);
        }
    }

    /// Records a response that cannot be applied.
    pub fn observe_invalid_patch(&self, took: Duration) {
        let rejection = Some(Rejection::ApiServerInternal);
        self.metrics.observe_call(self.hook.name, AdmissionStep::Admit, self.attributes, took, 0, rejection);
    }

    /// Records that the request was admitted although the webhook call failed.
    pub fn failed_open(&self, prefix: &str) {
        self.attributes.trail.annotate(self.key(prefix), self.hook.name);
    }

    /// Records whether the webhook changed the object. `mutated` is evaluated only if the
    /// annotation is recorded.
    pub fn record_mutation(&self, mutated: impl FnOnce() -> bool) {
        let (configuration, webhook) = (self.configuration, self.hook.name);
        self.attributes.trail.annotate_from(Level::Metadata, self.key(MUTATION), || {
            json!({"configuration": configuration, "webhook": webhook, "mutated": mutated()}).to_string()
        });
    }

    /// Records the patch if the audit level includes request bodies.
    pub fn record_patch(&self, patch: &[u8]) {
        let (configuration, webhook) = (self.configuration, self.hook.name);
        self.attributes.trail.annotate_from(Level::Request, self.key(PATCH), || {
            let patch: Json = serde_json::from_slice(patch).unwrap_or_default();
            let kind = patch_type::JSON_PATCH;
            json!({"configuration": configuration, "webhook": webhook, "patch": patch, "patchType": kind}).to_string()
        });
    }
}
