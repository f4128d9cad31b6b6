//! Hand-written validation of `apps` that declared checks call (`pkg/apis/apps/validation`).

mod stateful_set;
mod template;

pub use stateful_set::{
    allow_stored_template, validate_claim_template_of_set, validate_stateful_set_metadata, validate_stateful_set_pods,
};
pub use template::{choose_values_of_pods, validate_selector_of_pods, validate_template};
