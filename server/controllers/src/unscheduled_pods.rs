//! Events about pods that no scheduler assigns to a node. Upstream has no such controller: a cluster
//! has a scheduler.

use std::time::Duration;

use endpoints::{GroupVersionResource, Loopback};
use generated::coordination::v1::Lease;
use generated::core::v1::Pod;
use machinery::status::Status;
use registry::{Clock, Predicate};

use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::Next;
use crate::recorder::{Recorder, reference};

const PODS: GroupVersionResource = ("", "v1", "pods");
const LEASES: GroupVersionResource = ("coordination.k8s.io", "v1", "leases");
/// How long a scheduler may take.
const PATIENCE: Duration = Duration::from_secs(5);
const WORKERS: usize = 1;
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Creates an event for each pod that waits although no scheduler runs.
///
/// # Errors
/// The server lacks pods.
pub async fn run(context: Context) -> Result<(), Status> {
    let store = context.store(PODS.0, PODS.2)?;
    let clock = context.server.environment.backend.clock.clone();
    let (queue, everything, loopback) = (context.queue("unscheduled_pod"), Predicate::default(), context.loopback());
    let changes = follow(&store, &everything, |event: Event<Pod>| {
        if let Event::Stored(pod) = event
            && is_waiting(&pod)
        {
            queue.add_after((pod.metadata.namespace, pod.metadata.name), PATIENCE);
        }
    });
    let recorder = Recorder::new(loopback.clone(), clock.clone(), "unscheduled-pod-controller");
    let work = queue.work("unscheduled-pod-controller", WORKERS, async |(namespace, name): (String, String)| {
        let Some(pod) = loopback.get::<Pod>(PODS, &namespace, &name).await?.filter(is_waiting) else {
            return Ok(Next::Done);
        };
        if !has_scheduler(&loopback, &*clock).await? {
            report(&recorder, &pod).await;
        }
        Ok(Next::Done)
    });
    tokio::join!(changes, work);
    Ok(())
}

/// Whether a pod waits for the default scheduler, and no scheduler has looked at it.
fn is_waiting(pod: &Pod) -> bool {
    let is_seen = pod.status.conditions.iter().any(|condition| condition.r#type == "PodScheduled");
    pod.spec.node_name.is_empty()
        && pod.spec.scheduling_gates.is_empty()
        && pod.spec.scheduler_name == DEFAULT_SCHEDULER
        && pod.metadata.deletion_timestamp.is_none()
        && !is_seen
}

/// Whether a scheduler holds its lease.
async fn has_scheduler(loopback: &Loopback, clock: &dyn Clock) -> Result<bool, Status> {
    let Some(lease) = loopback.get::<Lease>(LEASES, "kube-system", "kube-scheduler").await? else { return Ok(false) };
    let renewed = lease.spec.renew_time.map_or(0, |time| time.unix_micros() / 1_000_000);
    let duration = i64::from(lease.spec.lease_duration_seconds.unwrap_or(0));
    Ok(renewed + duration >= clock.now().unix())
}

async fn report(recorder: &Recorder, pod: &Pod) {
    let involved = reference("Pod", &pod.metadata);
    let message = "no scheduler runs in this cluster, so the pod stays Pending: start a kube-scheduler and nodes, or \
                   set spec.nodeName";
    recorder.warn(involved, "NoScheduler", message.to_owned()).await;
}
