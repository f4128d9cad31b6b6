//! What upstream checks by hand in kinds of `admissionregistration` (`pkg/apis/admissionregistration/validation`).

mod binding;
mod client;
mod conditions;
mod mutating_policy;
mod policy;
mod rules;
mod webhook;

pub use binding::{validate_mutating_binding, validate_validating_binding};
pub use mutating_policy::validate_mutating_policy;
pub use policy::validate_validating_policy;
pub use webhook::{validate_mutating_webhooks, validate_validating_webhooks};

const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];
