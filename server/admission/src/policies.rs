//! `ValidatingAdmissionPolicy` and `MutatingAdmissionPolicy`: admission rules in CEL that are API
//! objects.

mod annotations;
mod compiled;
mod context;
mod document;
mod error;
mod informers;
mod input;
mod matching;
mod mutating;
mod params;
mod validating;

use std::sync::Arc;

use endpoints::AdmissionAttributes;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Informers;

use super::metrics::Metrics;
use super::reinvocation::Reinvocation;

pub use compiled::{CompiledPolicies, Expression, conditions_hold};
pub use context::PolicyContext;
pub use informers::Policies;
use informers::{PolicyInformers, refused};
pub use input::{Activation, Input};
pub use matching::{PolicyRequest, operation_name};

pub const GROUP: &str = "admissionregistration.k8s.io";
/// Groups of review resources. They are not stored, and policies must not restrict access to them.
const REVIEW_GROUPS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

impl Policies {
    /// Starts the informers of policies and bindings.
    pub fn start(context: Arc<PolicyContext>, informers: &Informers, metrics: Metrics) -> Self {
        let validating = informers
            .of(GROUP, "validatingadmissionpolicies")
            .zip(informers.of(GROUP, "validatingadmissionpolicybindings"))
            .map(|(policies, bindings)| PolicyInformers { policies, bindings });
        let mutating = informers
            .of(GROUP, "mutatingadmissionpolicies")
            .zip(informers.of(GROUP, "mutatingadmissionpolicybindings"))
            .map(|(policies, bindings)| PolicyInformers { policies, bindings });
        Policies { context, validating, mutating, compiled: CompiledPolicies::default(), metrics }
    }

    /// Applies the mutating policies to an object.
    pub async fn mutate(
        &self,
        attributes: &AdmissionAttributes,
        object: &mut Owned,
        old: Option<&Owned>,
        rounds: &mut Reinvocation,
    ) -> Result<(), Status> {
        match &self.mutating {
            Some(watched) if is_subject(attributes) && !watched.policies.is_empty() => {
                rounds.policies.begin(rounds.round, Some(object));
                let outcome = mutating::run(self, watched, attributes, object, old, rounds).await;
                rounds.policies.set_last_output(Some(object));
                outcome
            }
            _ => Ok(()),
        }
    }

    /// Applies the validating policies: rejects the request or adds warnings.
    pub async fn validate(
        &self,
        attributes: &AdmissionAttributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        match &self.validating {
            Some(watched) if is_subject(attributes) => validating::run(self, watched, attributes, object, old).await,
            _ => Ok(()),
        }
    }
}

/// Whether policies apply to a request. Policies and webhooks are exempt, so that a wrong policy
/// can be removed.
pub fn is_subject(attributes: &AdmissionAttributes) -> bool {
    let group = attributes.group;
    group != GROUP && !REVIEW_GROUPS.contains(&group)
}
