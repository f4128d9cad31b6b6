//! What the strategies of webhook configurations do: their generations.
//!
//! Upstream's strategies of these kinds compare with `reflect.DeepEqual`: an empty list or map, which no stored
//! configuration has, is a change.

use machinery::hooks::Context;
use machinery::reflect::Ref;

use crate::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};

/// Mirrors `validatingWebhookConfigurationStrategy.PrepareForUpdate`.
pub fn update_validating_webhooks(
    context: &Context,
    new: &mut ValidatingWebhookConfiguration,
    old: &ValidatingWebhookConfiguration,
) {
    if new.webhooks == old.webhooks && context.sent.says_empty(Ref::of(&*new), "webhooks") {
        new.metadata.generation = old.metadata.generation + 1;
    }
}

/// Mirrors `mutatingWebhookConfigurationStrategy.PrepareForUpdate`.
pub fn update_mutating_webhooks(
    context: &Context,
    new: &mut MutatingWebhookConfiguration,
    old: &MutatingWebhookConfiguration,
) {
    if new.webhooks == old.webhooks && context.sent.says_empty(Ref::of(&*new), "webhooks") {
        new.metadata.generation = old.metadata.generation + 1;
    }
}
