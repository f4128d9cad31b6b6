//! The endpoint slices of services with a selector (upstream: `endpointslice.Controller`).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use generated::core::v1::Service;
use machinery::status::Status;
use tokio::sync::Notify;

use super::failures::Failures;
use super::informers::ServiceInformers;
use super::packing::{SliceChanges, pack};
use super::projection::Key;
use super::slice_set::{MANAGER, families, groups};
use super::slice_writer::SliceWriter;
use super::topology_cache::{HintsEvent, TopologyCache};
use super::trigger_times::{TriggerTimes, annotate};
use crate::context::Context;
use crate::queue::{Next, Queue};
use crate::recorder::{Recorder, reference};

/// Upstream's `--concurrent-service-endpoint-syncs`.
const WORKERS: usize = 5;
/// How long changes of slices are collected (`endpointSliceChangeMinSyncDelay`).
const COLLECT: Duration = Duration::from_secs(1);

/// Keeps the endpoint slices of services current.
///
/// # Errors
/// The server lacks a resource.
pub async fn run(context: Context) -> Result<(), Status> {
    let informers = context.services.clone();
    let clock = context.server.environment.backend.clock.clone();
    let controller = SliceController {
        informers: informers.clone(),
        writer: SliceWriter::new(&context, MANAGER)?,
        recorder: Recorder::new(context.loopback(), clock, "endpoint-slice-controller"),
        times: TriggerTimes::default(),
        failures: Failures::default(),
        waiting: Arc::default(),
        topology: TopologyCache::default(),
    };
    let queue = Arc::new(context.queue("endpoint_slice"));
    informers.queue_services(&queue);
    queue_changed_slices(&informers, &queue);
    let (waiting, retried) = (controller.waiting.clone(), queue.clone());
    informers.nodes.on_change(Box::new(move |_, old, new| {
        if old.is_none() && new.is_some() {
            waiting.lock().unwrap_or_else(PoisonError::into_inner).drain().for_each(|key| retried.add(key));
        }
    }));
    let nodes_changed = Arc::new(Notify::new());
    let notify = nodes_changed.clone();
    informers.nodes.on_change(Box::new(move |_, _, _| notify.notify_one()));
    let work = async {
        tokio::join!(informers.services.listed(), informers.pods.listed(), informers.nodes.listed());
        controller.read_nodes(&queue);
        tokio::select! {
            () = queue.work("endpointslice-controller", WORKERS, |key| controller.sync(key)) => {}
            () = async { loop { nodes_changed.notified().await; controller.read_nodes(&queue); } } => {}
        }
    };
    tokio::join!(
        informers.follow_services(context.store("", "services")?),
        informers.follow_pods(context.store("", "pods")?),
        informers.follow_nodes(context.store("", "nodes")?),
        informers.follow_slices(context.store("discovery.k8s.io", "endpointslices")?),
        work,
    );
    Ok(())
}

/// Queues the service of a slice that changes and is, or was, one of this controller.
fn queue_changed_slices(informers: &ServiceInformers, queue: &Arc<Queue<Key>>) {
    let queue = queue.clone();
    informers.slices.on_change(Box::new(move |(namespace, _), old, new| {
        let is_own = [old, new].into_iter().flatten().any(|slice| slice.managed_by == MANAGER);
        let of = [old, new].into_iter().flatten().map(|slice| slice.service.clone());
        for service in of.filter(|service| is_own && !service.is_empty()) {
            queue.add_after((namespace.clone(), service), COLLECT);
        }
    }));
}

/// The controller of endpoint slices.
struct SliceController {
    informers: Arc<ServiceInformers>,
    writer: SliceWriter,
    recorder: Recorder,
    times: TriggerTimes,
    failures: Failures,
    /// Services with a pod whose node does not exist.
    waiting: Arc<Mutex<HashSet<Key>>>,
    topology: TopologyCache,
}

impl SliceController {
    /// Reads the zones of all nodes, and queues the services whose hints do not suit them.
    fn read_nodes(&self, queue: &Queue<Key>) {
        let nodes = self.informers.nodes.select("", |_| true);
        let overloaded = self.topology.set_nodes(nodes.iter().map(|(_, node)| &**node));
        overloaded.into_iter().for_each(|key| queue.add(key));
    }

    /// Writes the slices of a service (`syncService`).
    async fn sync(&self, key: Key) -> Result<Next, Status> {
        let Some(state) = self.informers.services.get(&key) else {
            // The garbage collector deletes the slices.
            self.times.forget(&key);
            self.failures.forget(&key);
            self.topology.retain(&key, &[]);
            self.lock_waiting().remove(&key);
            return Ok(Next::Done);
        };
        if state.service.spec.r#type == "ExternalName" || !state.has_selector() {
            return Ok(Next::Done);
        }
        // Before nodes are read, so that none is missed that is created meanwhile.
        self.lock_waiting().insert(key.clone());
        let missing = match self.reconcile(&key, &state.service).await {
            Ok(missing) => missing,
            Err(status) => {
                self.report(&key, &state.service, &status.message).await;
                return Err(status);
            }
        };
        match missing.as_slice() {
            [] => {
                self.lock_waiting().remove(&key);
                self.failures.forget(&key);
            }
            [why] => self.report(&key, &state.service, why).await,
            several => self.report(&key, &state.service, &format!("[{}]", several.join(", "))).await,
        }
        Ok(Next::Done)
    }

    /// Writes the slices of a service; returns why pods are missing.
    async fn reconcile(&self, key: &Key, service: &Service) -> Result<Vec<String>, Status> {
        let existing = self.writer.list(key).await?;
        let backends = self.informers.backends(service);
        let time = self.times.next(key, service, &backends);
        let zone = |node: &str| {
            let node = self.informers.nodes.get(&(String::new(), node.to_owned()))?;
            Some(node.zone.clone())
        };
        let what = format!("Service {}/{}", key.0, key.1);
        let is_deleting = service.metadata.deletion_timestamp.is_some();
        let (mut missing, mut rest) = (Vec::new(), existing);
        let (families, shares) = (families(service), self.topology.shares());
        self.topology.retain(key, &families);
        for family in families {
            let (slices, others) = rest.into_iter().partition(|slice| slice.address_type == family);
            rest = others;
            let (groups, lacking) = groups(service, &backends, family, zone);
            // A pod that is missing in several families is reported once.
            missing.extend(lacking.into_iter().filter(|why| !missing.contains(why)).collect::<Vec<_>>());
            let mut changes = pack(service, family, slices, groups, shares.as_deref());
            let event = self.topology.record(key, family, changes.hinted.take());
            let written = changes.create.iter_mut().chain(&mut changes.update);
            written.for_each(|slice| annotate(&mut slice.metadata.annotations, time));
            let written = self.writer.write(&what, changes, is_deleting).await;
            // The event is known only now: another attempt finds the recorded hints.
            if let Some(event) = event {
                self.report_hints(service, event).await;
            }
            written?;
        }
        // Slices of families that the service does not have any more.
        self.writer.write(&what, SliceChanges { delete: rest, ..SliceChanges::default() }, is_deleting).await?;
        Ok(missing)
    }

    async fn report_hints(&self, service: &Service, HintsEvent { is_enabled, message }: HintsEvent) {
        let involved = reference("Service", &service.metadata);
        match is_enabled {
            true => self.recorder.inform(involved, "TopologyAwareHintsEnabled", message).await,
            false => self.recorder.warn(involved, "TopologyAwareHintsDisabled", message).await,
        }
    }

    async fn report(&self, key: &Key, service: &Service, why: &str) {
        if !self.failures.is_new(key, why) {
            return;
        }
        let metadata = &service.metadata;
        let involved = reference("Service", metadata);
        let (namespace, name) = (&metadata.namespace, &metadata.name);
        let message = format!("Error updating Endpoint Slices for Service {namespace}/{name}: {why}");
        self.recorder.warn(involved, "FailedToUpdateEndpointSlices", message).await;
    }

    fn lock_waiting(&self) -> std::sync::MutexGuard<'_, HashSet<Key>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
