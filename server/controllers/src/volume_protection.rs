//! Finalizers of volumes and claims in use (upstream: `pvprotection.Controller`,
//! `pvcprotection.Controller`).

use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use machinery::status::Status;
use registry::{ListQuery, Predicate, ResourceStore};

use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::Next;

const VOLUMES: GroupVersionResource = ("", "v1", "persistentvolumes");
const CLAIMS: GroupVersionResource = ("", "v1", "persistentvolumeclaims");
const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";
const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
/// Upstream's number of workers.
const WORKERS: usize = 1;

/// Keeps volumes until no claim is bound to them.
///
/// # Errors
/// The server lacks volumes.
pub async fn run_for_volumes(context: Context) -> Result<(), Status> {
    let store = context.store(VOLUMES.0, VOLUMES.2)?;
    let (queue, everything, loopback) = (context.queue("pvprotection"), Predicate::default(), context.loopback());
    let changes = follow(&store, &everything, |event: Event<PersistentVolume>| {
        if let Event::Stored(volume) = event
            && change(&volume.metadata.finalizers, VOLUME_FINALIZER, is_deleting(&volume.metadata)).is_some()
        {
            queue.add(volume.metadata.name);
        }
    });
    let work = queue.work("persistentvolume-protection-controller", WORKERS, async |name: String| {
        let Some(mut volume) = loopback.get::<PersistentVolume>(VOLUMES, "", &name).await? else {
            return Ok(Next::Done);
        };
        let is_deleting = is_deleting(&volume.metadata);
        let changed = change(&volume.metadata.finalizers, VOLUME_FINALIZER, is_deleting);
        let is_free = !is_deleting || volume.status.phase != "Bound";
        let Some(finalizers) = changed.filter(|_| is_free) else { return Ok(Next::Done) };
        volume.metadata.finalizers = finalizers;
        written(loopback.update(VOLUMES, volume).await)
    });
    tokio::join!(changes, work);
    Ok(())
}

/// Keeps claims until no pod uses them.
///
/// # Errors
/// The server lacks claims or pods.
pub async fn run_for_claims(context: Context) -> Result<(), Status> {
    let (store, pods) = (context.store(CLAIMS.0, CLAIMS.2)?, context.store("", "pods")?);
    let (queue, everything, loopback) = (context.queue("pvcprotection"), Predicate::default(), context.loopback());
    let changes = follow(&store, &everything, |event: Event<PersistentVolumeClaim>| {
        if let Event::Stored(claim) = event
            && change(&claim.metadata.finalizers, CLAIM_FINALIZER, is_deleting(&claim.metadata)).is_some()
        {
            queue.add((claim.metadata.namespace, claim.metadata.name));
        }
    });
    let of_pods = follow(&pods, &everything, |event: Event<Pod>| {
        if let Event::Deleted(pod) = event {
            claims_of(&pod).for_each(|claim| queue.add((pod.metadata.namespace.clone(), claim)));
        }
    });
    let work =
        queue.work("persistentvolumeclaim-protection-controller", WORKERS, |key| protect_claim(&loopback, &pods, key));
    tokio::join!(changes, of_pods, work);
    Ok(())
}

async fn protect_claim(
    loopback: &Loopback,
    pods: &ResourceStore,
    (namespace, name): (String, String),
) -> Result<Next, Status> {
    let Some(mut claim) = loopback.get::<PersistentVolumeClaim>(CLAIMS, &namespace, &name).await? else {
        return Ok(Next::Done);
    };
    let is_deleting = is_deleting(&claim.metadata);
    let Some(finalizers) = change(&claim.metadata.finalizers, CLAIM_FINALIZER, is_deleting) else {
        return Ok(Next::Done);
    };
    if is_deleting && is_used(pods, &namespace, &name).await? {
        return Ok(Next::Done);
    }
    claim.metadata.finalizers = finalizers;
    written(loopback.update(CLAIMS, claim).await)
}

/// Whether a pod with a node uses a claim. A kubelet starts no pod that uses a claim being deleted.
async fn is_used(pods: &ResourceStore, namespace: &str, claim: &str) -> Result<bool, Status> {
    for entry in pods.list(namespace, &Predicate::default(), &ListQuery::default()).await?.entries {
        let Ok(pod) = pods.object(&entry)?.into_inner::<Pod>() else { continue };
        if !pod.spec.node_name.is_empty() && claims_of(&pod).any(|used| used == claim) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The names of the claims of a pod. That of an ephemeral volume has the names of pod and volume.
fn claims_of(pod: &Pod) -> impl Iterator<Item = String> {
    pod.spec.volumes.iter().filter_map(|volume| match &volume.volume_source.persistent_volume_claim {
        Some(source) => Some(source.claim_name.clone()),
        None => volume.volume_source.ephemeral.as_ref().map(|_| format!("{}-{}", pod.metadata.name, volume.name)),
    })
}

fn is_deleting(metadata: &apimachinery::meta::v1::ObjectMeta) -> bool {
    metadata.deletion_timestamp.is_some()
}

/// The changed finalizers: without the finalizer for an object that is being deleted, with it for
/// others; `None` if they are right.
fn change(finalizers: &[String], finalizer: &str, is_deleting: bool) -> Option<Vec<String>> {
    let others: Vec<String> = finalizers.iter().filter(|other| *other != finalizer).cloned().collect();
    match (is_deleting, others.len() < finalizers.len()) {
        (true, true) => Some(others),
        (false, false) => Some(others.into_iter().chain([finalizer.to_owned()]).collect()),
        _ => None,
    }
}

fn written<T>(result: Result<T, Status>) -> Result<Next, Status> {
    match result {
        Err(status) if status.code == 404 => Ok(Next::Done),
        result => result.map(|_| Next::Done),
    }
}
