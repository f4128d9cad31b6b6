//! What the audit log says of webhooks (upstream: `webhookAnnotator`).

use endpoints::Attributes;
use serde_json::{Value as Json, json};
use serving::audit::Level;

use super::hook::Hook;

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
    pub attributes: &'c Attributes,
}

impl Called<'_> {
    /// Webhooks are asked once: the round is the first one.
    fn key(&self, prefix: &str) -> String {
        format!("{prefix}/round_0_index_{}", self.index)
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
            json!({"configuration": configuration, "webhook": webhook, "patch": patch, "patchType": "JSONPatch"})
                .to_string()
        });
    }
}
