//! What upstream checks by hand in kinds of `admissionregistration` (`pkg/apis/admissionregistration/validation`).

#[path = "validation/binding.rs"]
mod binding;
#[path = "validation/client.rs"]
mod client;
#[path = "validation/conditions.rs"]
mod conditions;
#[path = "validation/mutating_policy.rs"]
mod mutating_policy;
#[path = "validation/policy.rs"]
mod policy;
#[path = "validation/rules.rs"]
mod rules;
#[path = "validation/webhook.rs"]
mod webhook;

pub use binding::{validate_mutating_binding, validate_validating_binding};
pub use mutating_policy::validate_mutating_policy;
pub use policy::validate_validating_policy;
pub use webhook::{validate_mutating_webhooks, validate_validating_webhooks};

const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];
