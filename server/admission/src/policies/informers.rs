//! The policies of a server, and their refusals.

use std::sync::Arc;

use apimachinery::meta::v1::status_reason;
use generated::admissionregistration::v1::{
    MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
};
use machinery::status::{Cause, Status};
use registry::Informer;

use super::compiled::CompiledPolicies;
use super::context::PolicyContext;
use crate::metrics::Metrics;

/// Watched policies and bindings, and their compiled expressions.
pub struct Policies {
    pub(super) context: Arc<PolicyContext>,
    pub(super) validating: Option<PolicyInformers<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>>,
    pub(super) mutating: Option<PolicyInformers<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>>,
    pub(super) compiled: CompiledPolicies,
    pub(super) metrics: Metrics,
}

pub(super) struct PolicyInformers<P, B> {
    pub(super) policies: Informer<P>,
    pub(super) bindings: Informer<B>,
}

/// Builds a rejection that contains the reason twice, as upstream's do.
pub(super) fn refused(mut status: Status, reason: &str, message: String) -> Status {
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
