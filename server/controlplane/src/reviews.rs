//! Access reviews and identity reviews: requests that are answered but not stored.

mod access;
mod attributes;
mod rules;
mod subject;
mod token;
mod typed;
mod validation;

use std::collections::HashMap;
use std::sync::Arc;

use endpoints::SubresourceHandler;
use machinery::catalog::KindDef;
use serving::Access;

pub use typed::typed;

/// Returns the handler of a review kind.
pub fn handlers(kind: &KindDef, access: &Access) -> HashMap<&'static str, Arc<dyn SubresourceHandler>> {
    let access = access.clone();
    let handler: Arc<dyn SubresourceHandler> = match (kind.group, kind.kind) {
        ("authorization.k8s.io", "SubjectAccessReview") => Arc::new(access::OfSubject(access)),
        ("authorization.k8s.io", "SelfSubjectAccessReview") => Arc::new(access::SelfSubjectAccessReviewHandler(access)),
        ("authorization.k8s.io", "LocalSubjectAccessReview") => Arc::new(access::Local(access)),
        ("authorization.k8s.io", "SelfSubjectRulesReview") => Arc::new(rules::SelfSubjectRulesReviewHandler(access)),
        ("authentication.k8s.io", "SelfSubjectReview") => Arc::new(subject::SelfSubjectReviewHandler),
        ("authentication.k8s.io", "TokenReview") => Arc::new(token::OfToken(access)),
        _ => return HashMap::new(),
    };
    HashMap::from([("", handler)])
}
