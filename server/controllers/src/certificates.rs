//! Approval, signing and clean-up of certificate requests (upstream: `pkg/controller/certificates`).

mod approver;
mod cleaner;
mod request;
mod signer;
mod usages;

use std::time::Duration;

use endpoints::GroupVersionResource;
use generated::certificates::v1::{CertificateSigningRequest, request_condition_type};
use registry::Predicate;

pub use approver::run as run_approver;
pub use cleaner::run as run_cleaner;
pub use signer::run as run_signer;

use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::Next;
use machinery::status::Status;

const REQUESTS: GroupVersionResource = ("certificates.k8s.io", "v1", "certificatesigningrequests");
/// Upstream's number of workers.
const WORKERS: usize = 5;
/// The longest delay before a request is looked at again that cannot be handled.
const LONGEST_DELAY: Duration = Duration::from_secs(1000);

/// Calls `handle` for each request without a certificate, when it is created and when it changes
/// (`certificates.CertificateController`).
async fn for_each_open<F>(
    what: &'static str,
    context: &Context,
    handle: impl Fn(CertificateSigningRequest) -> F,
) -> Result<(), Status>
where
    F: Future<Output = Result<Next, Status>>,
{
    let store = context.store(REQUESTS.0, REQUESTS.2)?;
    let (queue, everything, loopback) = (context.queue(what), Predicate::default(), context.loopback());
    let changes = follow(&store, &everything, |event: Event<CertificateSigningRequest>| {
        if let Event::Stored(request) = event
            && request.status.certificate.is_empty()
        {
            queue.add(request.metadata.name);
        }
    });
    let work = queue.work(what, WORKERS, async |name: String| {
        let found = loopback.get::<CertificateSigningRequest>(REQUESTS, "", &name).await?;
        let Some(request) = found.filter(|request| request.status.certificate.is_empty()) else {
            return Ok(Next::Done);
        };
        match handle(request).await {
            // The request is gone.
            Err(status) if status.code == 404 => Ok(Next::Done),
            result => result,
        }
    });
    tokio::join!(changes, work);
    Ok(())
}

/// Whether a request was approved, and whether it was denied (`GetCertApprovalCondition`).
fn decision(request: &CertificateSigningRequest) -> (bool, bool) {
    let has = |kind: &str| request.status.conditions.iter().any(|condition| condition.r#type == kind);
    (has(request_condition_type::APPROVED), has(request_condition_type::DENIED))
}
