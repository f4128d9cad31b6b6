//! Endpoint slices of endpoints that users or other programs maintain, for services without a selector
//! (upstream: `endpointslicemirroring.Controller`).

use std::sync::Arc;

use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::Endpoints;
use machinery::status::Status;

use super::failures::Failures;
use super::informers::{ServiceInformers, ServiceState};
use super::mirrored_slices::{MANAGER, MAX_ADDRESSES, desired, pack};
use super::projection::Key;
use super::slice_writer::SliceWriter;
use crate::context::Context;
use crate::queue::{Next, Queue};
use crate::recorder::{Recorder, reference};

const ENDPOINTS: GroupVersionResource = ("", "v1", "endpoints");
/// Upstream's `--mirroring-concurrent-service-endpoint-syncs`.
const WORKERS: usize = 5;

/// Keeps the mirrored endpoint slices current.
///
/// # Errors
/// The server lacks a resource.
pub async fn run(context: Context) -> Result<(), Status> {
    let informers = context.services.clone();
    let clock = context.server.environment.backend.clock.clone();
    let controller = MirroringController {
        informers: informers.clone(),
        loopback: context.loopback(),
        writer: SliceWriter::new(&context, MANAGER)?,
        recorder: Recorder::new(context.loopback(), clock, "endpoint-slice-mirroring-controller"),
        failures: Failures::default(),
    };
    let queue = Arc::new(context.queue("endpoint_slice_mirroring"));
    queue_changed(&informers, &queue);
    let work = async {
        tokio::join!(informers.services.listed(), informers.endpoints.listed());
        queue.work("endpointslice-mirroring-controller", WORKERS, |key| controller.sync(key)).await;
    };
    tokio::join!(
        informers.follow_services(context.store("", "services")?),
        informers.follow_endpoints(context.store("", "endpoints")?),
        informers.follow_slices(context.store("discovery.k8s.io", "endpointslices")?),
        work,
    );
    Ok(())
}

/// Queues the endpoints whose slices may have to change.
fn queue_changed(informers: &Arc<ServiceInformers>, queue: &Arc<Queue<Key>>) {
    let changed = queue.clone();
    informers.services.on_change(Box::new(move |key, old, new| {
        let is_bare = |state: Option<&Arc<ServiceState>>| state.map(|state| !state.has_selector());
        let (before, now) = (is_bare(old), is_bare(new));
        // A service appears, disappears, or gets or loses its selector.
        if before != now && (before == Some(true) || now == Some(true)) {
            changed.add(key.clone());
        }
    }));
    let (this, changed) = (Arc::downgrade(informers), queue.clone());
    informers.endpoints.on_change(Box::new(move |key, old, new| {
        let service = this.upgrade().and_then(|this| this.services.get(key));
        // Endpoints that are made of pods have no mirrored slices.
        let is_made = service.is_some_and(|state| state.has_selector());
        if !is_made && [old, new].into_iter().flatten().any(|endpoints| endpoints.is_mirrored) {
            changed.add(key.clone());
        }
    }));
    let changed = queue.clone();
    informers.slices.on_change(Box::new(move |(namespace, _), old, new| {
        let is_own = [old, new].into_iter().flatten().any(|slice| slice.managed_by == MANAGER);
        let of = [old, new].into_iter().flatten().map(|slice| slice.service.clone());
        for service in of.filter(|service| is_own && !service.is_empty()) {
            changed.add((namespace.clone(), service));
        }
    }));
}

/// The controller of mirrored endpoint slices.
struct MirroringController {
    informers: Arc<ServiceInformers>,
    loopback: Loopback,
    writer: SliceWriter,
    recorder: Recorder,
    failures: Failures,
}

impl MirroringController {
    /// Writes the slices of endpoints (`syncEndpoints`).
    async fn sync(&self, key: Key) -> Result<Next, Status> {
        let is_mirrored = self.informers.endpoints.get(&key).is_some_and(|endpoints| endpoints.is_mirrored)
            && self.informers.services.get(&key).is_some_and(|state| !state.has_selector());
        let found = match is_mirrored {
            true => self.loopback.get::<Endpoints>(ENDPOINTS, &key.0, &key.1).await?,
            false => None,
        };
        let Some(endpoints) = found else {
            self.writer.delete_all(&key).await?;
            self.failures.forget(&key);
            return Ok(Next::Done);
        };
        let desired = desired(&endpoints);
        self.report(&key, &endpoints, (desired.invalid, desired.skipped)).await;
        let existing = self.writer.list(&key).await?;
        let is_deleting = endpoints.metadata.deletion_timestamp.is_some();
        let what = format!("Endpoints {}/{}", key.0, key.1);
        self.writer.write(&what, pack(&endpoints, existing, desired.groups), is_deleting).await?;
        Ok(Next::Done)
    }

    /// Creates events about addresses that are not mirrored, unless the last events have these numbers.
    async fn report(&self, key: &Key, endpoints: &Endpoints, (invalid, skipped): (usize, usize)) {
        if skipped == 0 {
            return self.failures.forget(key);
        }
        if !self.failures.is_new(key, &format!("{invalid} of {skipped}")) {
            return;
        }
        let involved = || reference("Endpoints", &endpoints.metadata);
        if invalid > 0 {
            let message = format!("Skipped {invalid} invalid IP addresses when mirroring to EndpointSlices");
            self.recorder.warn(involved(), "InvalidIPAddress", message).await;
        }
        if skipped > invalid {
            let message = format!(
                "A max of {MAX_ADDRESSES} addresses can be mirrored to EndpointSlices per Endpoints subset. {skipped} \
                 addresses were skipped"
            );
            self.recorder.warn(involved(), "TooManyAddressesToMirror", message).await;
        }
    }
}
