//! What the audit log says of webhooks (upstream: `webhookAnnotator`).

use std::time::Duration;

use endpoints::Attributes;
use generated::admissionregistration::v1::patch_type;
use machinery::status::Status;
use serde_json::{Value as Json, json};
use serving::audit::Level;
use webhook::Users;

use super::hook::Hook;
use crate::admission::metrics::{Metrics, Rejection, Step};

const MUTATION: &str = "mutation.webhook.admission.k8s.io";
const PATCH: &str = "patch.webhook.admission.k8s.io";
/// The annotations of webhooks that could not be asked, where the object passed all the same.
pub const MUTATING_FAILED_OPEN: &str = "failed-open.mutation.webhook.admission.k8s.io";
pub const VALIDATING_FAILED_OPEN: &str = "failed-open.validating.webhook.admission.k8s.io";

/// The webhook that was called, by its place among those of its kind.
pub struct Called<'c> {
    pub configuration: &'c str,
    pub hook: &'c Hook<'c>,
    pub index: usize,
    /// 0, and 1 when it is asked again.
    pub round: usize,
    pub attributes: &'c Attributes,
    /// Who this server is to webhooks.
    pub users: &'c Users,
    pub metrics: &'c Metrics,
}

impl Called<'_> {
    fn key(&self, prefix: &str) -> String {
        format!("{prefix}/round_{}_index_{}", self.round, self.index)
    }

    /// Counts an answer: good, or the refusal that the client gets.
    pub fn answered(&self, step: Step, took: Duration, judged: &Result<(), Status>) {
        let (code, rejection) = match judged {
            Ok(()) => (200, None),
            Err(status) => (status.code, Some(Rejection::NoError)),
        };
        self.metrics.asked(self.hook.name, step, self.attributes, took, code, rejection);
    }

    /// Counts that there was no answer, or none that could be used.
    pub fn unanswered(&self, step: Step, took: Duration, code: u16) {
        let rejection = (!self.hook.ignores_failure).then_some(Rejection::CallingWebhook);
        self.metrics.asked(self.hook.name, step, self.attributes, took, code, rejection);
        if self.hook.ignores_failure {
            self.metrics.failed_open(self.hook.name, step);
        }
    }

    /// Counts that what the webhook wants cannot be done.
    pub fn impossible(&self, took: Duration) {
        let rejection = Some(Rejection::ApiServerInternal);
        self.metrics.asked(self.hook.name, Step::Admit, self.attributes, took, 0, rejection);
    }

    /// Records that the object passed although the webhook could not be asked.
    pub fn failed_open(&self, prefix: &str) {
        self.attributes.trail.annotate(self.key(prefix), self.hook.name);
    }

    /// Records whether the webhook changed the object, which is found out only for that.
    pub fn mutated(&self, mutated: impl FnOnce() -> bool) {
        let (configuration, webhook) = (self.configuration, self.hook.name);
        self.attributes.trail.annotate_from(Level::Metadata, self.key(MUTATION), || {
            json!({"configuration": configuration, "webhook": webhook, "mutated": mutated()}).to_string()
        });
    }

    /// Records the patch, where objects are recorded.
    pub fn patched(&self, patch: &[u8]) {
        let (configuration, webhook) = (self.configuration, self.hook.name);
        self.attributes.trail.annotate_from(Level::Request, self.key(PATCH), || {
            let patch: Json = serde_json::from_slice(patch).unwrap_or_default();
            let kind = patch_type::JSON_PATCH;
            json!({"configuration": configuration, "webhook": webhook, "patch": patch, "patchType": kind}).to_string()
        });
    }
}
