//! Strategies of certificate requests.

use std::collections::HashMap;

use machinery::hooks::WriteContext;
use machinery::scalar::Time;
use meta::reset_object_meta_for_status;

use generated::certificates::v1::{CertificateSigningRequest, request_condition_type};
use generated::certificates::v1beta1::PodCertificateRequest;

/// Updates through `approval` and `status`: keeps conditions of approval in status updates, and sets
/// missing times. Mirrors the strategies of the subresources. The requesting user is checked by
/// admission, which knows the user.
pub fn update_request(context: &WriteContext, new: &mut CertificateSigningRequest, old: &CertificateSigningRequest) {
    match context.subresource.as_str() {
        "status" => [request_condition_type::APPROVED, request_condition_type::DENIED]
            .iter()
            .for_each(|kind| keep_conditions(new, old, kind)),
        "approval" => {}
        _ => return,
    }
    fill_times(context, new, old);
}

/// `preserveConditionInstances`: skipped if conditions were added or removed, which validation rejects.
fn keep_conditions(new: &mut CertificateSigningRequest, old: &CertificateSigningRequest, kind: &str) {
    let stored: Vec<_> = old.status.conditions.iter().filter(|condition| condition.r#type == kind).collect();
    let changed: Vec<_> = new.status.conditions.iter_mut().filter(|condition| condition.r#type == kind).collect();
    if stored.len() == changed.len() {
        changed.into_iter().zip(stored).for_each(|(to, from)| to.clone_from(from));
    }
}

/// `populateConditionTimestamps`
fn fill_times(context: &WriteContext, new: &mut CertificateSigningRequest, old: &CertificateSigningRequest) {
    let mut since: HashMap<(&str, &str), Time> = HashMap::new();
    for stored in old.status.conditions.iter().filter(|stored| !stored.last_transition_time.is_zero()) {
        since.entry((&stored.r#type, &stored.status)).or_insert(stored.last_transition_time);
    }
    for condition in &mut new.status.conditions {
        if condition.last_update_time.is_zero() {
            condition.last_update_time = context.now;
        }
        if condition.last_transition_time.is_zero() {
            let same = since.get(&(condition.r#type.as_str(), condition.status.as_str()));
            condition.last_transition_time = same.copied().unwrap_or(context.now);
        }
    }
}

/// Status updates do not change metadata, although their writers own the metadata fields that they sent
/// (`podcertificaterequest.StatusStrategy`).
pub fn update_pod_request(context: &WriteContext, new: &mut PodCertificateRequest, old: &PodCertificateRequest) {
    if context.subresource == "status" {
        reset_object_meta_for_status(&mut new.metadata, &old.metadata);
    }
}
