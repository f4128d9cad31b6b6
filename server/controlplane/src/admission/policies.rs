//! `ValidatingAdmissionPolicy` and `MutatingAdmissionPolicy`: rules of admission that are objects, written in CEL.

mod annotations;
mod compiled;
mod input;
mod matching;
mod mutating;
mod params;
mod validating;

use std::sync::Arc;

use apimachinery::meta::v1::status_reason;
use endpoints::{Attributes, ServerContext};
use generated::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
};
use machinery::reflect::Owned;
use machinery::status::{Cause, Status};
use registry::Informer;

use super::metrics::Metrics;
use super::reinvocation::Reinvocation;

pub use compiled::{Cache, Expression, conditions_hold};
pub use input::{Activation, Input};
pub use matching::{Subject, operation_name};

pub const GROUP: &str = "admissionregistration.k8s.io";
/// Groups of questions: nothing of them is stored, and a policy must not decide about who may ask.
const QUESTIONS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

/// All policies and bindings, followed, and their compiled expressions.
pub struct Policies {
    environment: Arc<ServerContext>,
    validating: Option<Followed<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>>,
    mutating: Option<Followed<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>>,
    compiled: Cache,
    metrics: Metrics,
}

struct Followed<P, B> {
    policies: Informer<P>,
    bindings: Informer<B>,
}

impl Policies {
    /// Begins to follow policies.
    pub fn start(environment: &Arc<ServerContext>, metrics: Metrics) -> Self {
        let informers = &environment.informers;
        let validating = informers
            .of(GROUP, "validatingadmissionpolicies")
            .zip(informers.of(GROUP, "validatingadmissionpolicybindings"))
            .map(|(policies, bindings)| Followed { policies, bindings });
        let mutating = informers
            .of(GROUP, "mutatingadmissionpolicies")
            .zip(informers.of(GROUP, "mutatingadmissionpolicybindings"))
            .map(|(policies, bindings)| Followed { policies, bindings });
        Policies { environment: environment.clone(), validating, mutating, compiled: Cache::default(), metrics }
    }

    /// Changes an object as the mutating policies say.
    pub async fn mutate(
        &self,
        attributes: &Attributes,
        object: &mut Owned,
        old: Option<&Owned>,
        rounds: &mut Reinvocation,
    ) -> Result<(), Status> {
        match &self.mutating {
            Some(followed) if is_subject(attributes) && !followed.policies.is_empty() => {
                rounds.policies.begin(rounds.round, Some(object));
                let outcome = mutating::run(self, followed, attributes, object, old, rounds).await;
                rounds.policies.end(Some(object));
                outcome
            }
            _ => Ok(()),
        }
    }

    /// Refuses what validating policies refuse, and warns of what they warn of.
    pub async fn validate(
        &self,
        attributes: &Attributes,
        object: Option<&Owned>,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        match &self.validating {
            Some(followed) if is_subject(attributes) => validating::run(self, followed, attributes, object, old).await,
            _ => Ok(()),
        }
    }
}

/// Policies do not decide about policies and webhooks, so that a wrong one can be taken away again.
pub fn is_subject(attributes: &Attributes) -> bool {
    let group = attributes.group;
    group != GROUP && !QUESTIONS.contains(&group)
}

/// Why a policy could not see a request in the version that its rules name.
fn not_converted(status: &Status) -> String {
    format!("failed to configure policy: failed to convert object version: {}", status.message)
}

/// A refusal that says why twice, as upstream's do.
fn refused(mut status: Status, reason: &str, message: String) -> Status {
    let (reason, code) = match reason {
        status_reason::UNAUTHORIZED => (status_reason::UNAUTHORIZED, 401),
        status_reason::FORBIDDEN => (status_reason::FORBIDDEN, 403),
        status_reason::REQUEST_ENTITY_TOO_LARGE => (status_reason::REQUEST_ENTITY_TOO_LARGE, 413),
        _ => (status_reason::INVALID, 422),
    };
    status.reason = reason;
    status.code = code;
    if let Some(details) = &mut status.details {
        details.causes.push(Cause { message, ..Cause::default() });
    }
    status
}
