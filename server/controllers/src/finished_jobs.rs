//! Deletes jobs some time after they have finished (upstream: `ttlafterfinished.Controller`).

use std::sync::Arc;
use std::time::Duration;

use endpoints::{GroupVersionResource, Loopback};
use generated::batch::v1::Job;
use machinery::scalar::Time;
use machinery::status::Status;
use registry::{Clock, Predicate};
use serde_json::json;

use crate::client::Client;
use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::Next;

const JOBS: GroupVersionResource = ("batch", "v1", "jobs");
/// Upstream's `--concurrent-ttl-after-finished-syncs`.
const WORKERS: usize = 5;

/// Deletes finished jobs with `ttlSecondsAfterFinished`.
///
/// # Errors
/// The server lacks jobs.
pub async fn run(context: Context) -> Result<(), Status> {
    let store = context.store(JOBS.0, JOBS.2)?;
    let clock = context.server.environment.backend.clock.clone();
    let (queue, everything) = (context.queue("ttl_jobs_to_delete"), Predicate::default());
    let changes = follow(&store, &everything, |event: Event<Job>| {
        if let Event::Stored(job) = event
            && let Some(expiry) = expiry(&job)
        {
            queue.add_after((job.metadata.namespace, job.metadata.name), until(expiry, &*clock));
        }
    });
    let (loopback, client) = (context.loopback(), context.client());
    let work =
        queue.work("ttl-after-finished-controller", WORKERS, |key| delete_expired(&loopback, &client, &clock, key));
    tokio::join!(changes, work);
    Ok(())
}

/// When a job is to be deleted; `None` if it is not finished, stays, or is already being deleted.
fn expiry(job: &Job) -> Option<Time> {
    let seconds = job.spec.ttl_seconds_after_finished.filter(|_| job.metadata.deletion_timestamp.is_none())?;
    let is_end = |kind: &str| matches!(kind, "Complete" | "Failed");
    let mut conditions = job.status.conditions.iter();
    let end = conditions.find(|condition| is_end(&condition.r#type) && condition.status == "True")?;
    Some(end.last_transition_time.saturating_add(seconds.into()))
}

fn until(time: Time, clock: &dyn Clock) -> Duration {
    let seconds = time.unix().saturating_sub(clock.now().unix());
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

async fn delete_expired(
    loopback: &Loopback,
    client: &Client,
    clock: &Arc<dyn Clock>,
    (namespace, name): (String, String),
) -> Result<Next, Status> {
    let Some(job) = loopback.get::<Job>(JOBS, &namespace, &name).await? else { return Ok(Next::Done) };
    let Some(expiry) = expiry(&job) else { return Ok(Next::Done) };
    let left = until(expiry, &**clock);
    if !left.is_zero() {
        return Ok(Next::After(left));
    }
    let options = json!({
        "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground",
        "preconditions": {"uid": job.metadata.uid},
    });
    match client.delete(&format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}"), &options).await {
        Err(status) if status.code != 404 => Err(status),
        _ => Ok(Next::Done),
    }
}
