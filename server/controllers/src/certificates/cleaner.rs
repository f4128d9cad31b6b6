//! Deletes old certificate requests (upstream: `cleaner.CSRCleanerController`).

use std::time::Duration;

use endpoints::Loopback;
use generated::certificates::v1::{CertificateSigningRequest, request_condition_type};
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{ListQuery, Predicate, ResourceStore};
use x509::Certificate;

use super::REQUESTS;
use crate::context::Context;

/// How often requests are looked at (`pollingInterval`).
const INTERVAL: Duration = Duration::from_secs(60 * 60);
/// How long requests stay after their decision, in seconds (`approvedExpiration`,
/// `deniedExpiration`).
const DECIDED: i64 = 60 * 60;
/// How long requests stay that wait for a decision or a certificate, in seconds
/// (`pendingExpiration`).
const PENDING: i64 = 24 * 60 * 60;

/// Deletes requests some time after they were decided, or if they wait too long for a decision.
///
/// # Errors
/// The server lacks certificate requests.
pub async fn run(context: Context) -> Result<(), Status> {
    let store = context.store(REQUESTS.0, REQUESTS.2)?;
    let (loopback, clock) = (context.loopback(), context.server.environment.backend.clock.clone());
    loop {
        if let Err(status) = clean(&store, &loopback, clock.now()).await {
            tracing::warn!(why = status.message, "cannot clean up certificate requests; retrying later");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn clean(store: &ResourceStore, loopback: &Loopback, now: Time) -> Result<(), Status> {
    let query = ListQuery { resource_version: "0".into(), ..ListQuery::default() };
    for entry in store.list("", &Predicate::default(), &query).await?.entries {
        let Ok(request) = store.object(&entry)?.into_inner::<CertificateSigningRequest>() else { continue };
        if is_over(&request, now) {
            let name = &request.metadata.name;
            tracing::debug!(name, "deleting an old certificate request");
            // A request that cannot be deleted must not keep the others.
            if let Err(status) = loopback.delete(REQUESTS, "", name).await {
                tracing::warn!(name, why = status.message, "cannot delete a certificate request; retrying later");
            }
        }
    }
    Ok(())
}

/// Whether a request is of no use any more.
fn is_over(request: &CertificateSigningRequest, now: Time) -> bool {
    let is_older = |since: Time, seconds: i64| !since.is_zero() && now.unix() - since.unix() > seconds;
    let is_issued = !request.status.certificate.is_empty();
    let conditions = &request.status.conditions;
    if conditions.is_empty() && is_older(request.metadata.creation_timestamp, PENDING) {
        return true;
    }
    conditions.iter().any(|condition| match condition.r#type.as_str() {
        request_condition_type::DENIED | request_condition_type::FAILED => {
            is_older(condition.last_update_time, DECIDED)
        }
        request_condition_type::APPROVED if is_issued => {
            is_older(condition.last_update_time, DECIDED) || is_expired(request, now)
        }
        request_condition_type::APPROVED => is_older(condition.last_update_time, PENDING),
        _ => false,
    })
}

/// Whether the issued certificate has expired.
fn is_expired(request: &CertificateSigningRequest, now: Time) -> bool {
    let text = String::from_utf8_lossy(request.status.certificate.as_ref());
    let first = x509::blocks(&text).next().and_then(|block| Certificate::parse_all(&block.bytes).ok());
    first.and_then(|all| all.into_iter().next()).is_some_and(|first| first.not_after < now.unix())
}

#[cfg(test)]
mod tests {
    use generated::certificates::v1::CertificateSigningRequestCondition;

    use super::*;

    const NOW: i64 = 1_767_225_600;

    /// Whether a request is deleted that has this age, and a condition of this age.
    fn check(age: i64, condition: Option<(&str, i64)>, certificate: &str) -> bool {
        let mut request = CertificateSigningRequest::default();
        request.metadata.creation_timestamp = Time::from_unix(NOW - age);
        request.status.certificate = certificate.as_bytes().to_vec().into();
        request.status.conditions.extend(condition.map(|(kind, age)| CertificateSigningRequestCondition {
            r#type: kind.into(),
            last_update_time: Time::from_unix(NOW - age),
            ..CertificateSigningRequestCondition::default()
        }));
        is_over(&request, Time::from_unix(NOW))
    }

    #[test]
    fn requests_stay_as_long_as_upstream_keeps_them() {
        const HOUR: i64 = 60 * 60;
        assert!(!check(24 * HOUR, None, "") && check(24 * HOUR + 1, None, ""));
        for kind in ["Denied", "Failed"] {
            assert!(!check(9 * HOUR, Some((kind, HOUR)), "") && check(9 * HOUR, Some((kind, HOUR + 1)), ""));
        }
        assert!(!check(9 * HOUR, Some(("Approved", 24 * HOUR)), ""));
        assert!(check(9 * HOUR, Some(("Approved", 24 * HOUR + 1)), ""));
        assert!(!check(9 * HOUR, Some(("Approved", HOUR)), "no certificate"));
        assert!(check(9 * HOUR, Some(("Approved", HOUR + 1)), "no certificate"));
        assert!(!check(99 * HOUR, Some(("Example", 99 * HOUR)), ""));
    }

    #[test]
    fn requests_with_expired_certificates_are_deleted() {
        let mut params = rcgen::CertificateParams::default();
        let key = rcgen::KeyPair::generate().unwrap();
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2025, 12, 31);
        let expired = params.self_signed(&key).unwrap().pem();
        params.not_after = rcgen::date_time_ymd(2026, 1, 2);
        let valid = params.self_signed(&key).unwrap().pem();
        assert!(check(0, Some(("Approved", 0)), &expired) && !check(0, Some(("Approved", 0)), &valid));
    }
}
