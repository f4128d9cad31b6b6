//! The endpoints of services with a selector (upstream: `endpoint.Controller`).

use std::collections::BTreeMap;
use std::sync::Arc;

use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::{EndpointSubset, Endpoints, Service};
use machinery::status::Status;

use super::failures::Failures;
use super::informers::ServiceInformers;
use super::projection::Key;
use super::slice_set::{HEADLESS, has_address};
use super::subsets;
use super::trigger_times::{TriggerTimes, annotate};
use crate::context::Context;
use crate::per_namespace::is_terminating;
use crate::queue::Next;
use crate::recorder::{Recorder, reference};

const ENDPOINTS: GroupVersionResource = ("", "v1", "endpoints");
/// Upstream's `--concurrent-endpoint-syncs`.
const WORKERS: usize = 5;
/// The name of upstream's controller in labels and events.
const MANAGER: &str = "endpoint-controller";
const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";

/// Keeps the endpoints of services current.
///
/// # Errors
/// The server lacks a resource.
pub async fn run(context: Context) -> Result<(), Status> {
    let informers = context.services.clone();
    let clock = context.server.environment.backend.clock.clone();
    let controller = EndpointsController {
        informers: informers.clone(),
        loopback: context.loopback(),
        recorder: Recorder::new(context.loopback(), clock, MANAGER),
        times: TriggerTimes::default(),
        failures: Failures::default(),
    };
    let queue = Arc::new(context.queue("endpoint"));
    informers.queue_services(&queue);
    let changed = queue.clone();
    informers.endpoints.on_change(Box::new(move |key, old, new| {
        // Those that exist at the start may be of services that were deleted before.
        let is_relevant = old.is_none() != new.is_none();
        if is_relevant && !old.or(new).is_some_and(|endpoints| endpoints.is_lock) {
            changed.add(key.clone());
        }
    }));
    let work = async {
        tokio::join!(informers.services.listed(), informers.pods.listed());
        queue.work("endpoints-controller", WORKERS, |key| controller.sync(key)).await;
    };
    tokio::join!(
        informers.follow_services(context.store("", "services")?),
        informers.follow_pods(context.store("", "pods")?),
        informers.follow_endpoints(context.store("", "endpoints")?),
        work,
    );
    Ok(())
}

/// The controller of endpoints.
struct EndpointsController {
    informers: Arc<ServiceInformers>,
    loopback: Loopback,
    recorder: Recorder,
    times: TriggerTimes,
    failures: Failures,
}

impl EndpointsController {
    /// Writes the endpoints of a service, and deletes those of a deleted one (`syncService`).
    async fn sync(&self, key: Key) -> Result<Next, Status> {
        let Some(state) = self.informers.services.get(&key) else {
            if self.informers.is_gone(&self.loopback, &key).await? {
                self.loopback.delete(ENDPOINTS, &key.0, &key.1).await?;
                self.times.forget(&key);
                self.failures.forget(&key);
            }
            return Ok(Next::Done);
        };
        let service = &state.service;
        if service.spec.r#type == "ExternalName" || !state.has_selector() {
            return Ok(Next::Done);
        }
        let backends = self.informers.backends(service);
        let time = self.times.next(&key, service, &backends);
        let wanted = subsets::of(service, &backends);
        let current = self.loopback.get::<Endpoints>(ENDPOINTS, &key.0, &key.1).await?;
        if current.as_ref().is_some_and(|current| is_current(current, service, &wanted)) {
            return Ok(Next::Done);
        }
        let is_new = current.is_none();
        let mut endpoints = current.unwrap_or_default();
        (endpoints.metadata.namespace, endpoints.metadata.name) = key;
        endpoints.metadata.labels = labels(service);
        endpoints.subsets = wanted;
        let annotations = &mut endpoints.metadata.annotations;
        annotate(annotations, time);
        match subsets::truncate(&mut endpoints.subsets) {
            true => drop(annotations.insert(OVER_CAPACITY.into(), "truncated".into())),
            false => drop(annotations.remove(OVER_CAPACITY)),
        }
        self.write(endpoints, is_new).await
    }

    async fn write(&self, endpoints: Endpoints, is_new: bool) -> Result<Next, Status> {
        let involved = reference("Endpoints", &endpoints.metadata);
        let key = (involved.namespace.clone(), involved.name.clone());
        let written = match is_new {
            true => self.loopback.create(ENDPOINTS, endpoints).await,
            false => self.loopback.update(ENDPOINTS, endpoints).await,
        };
        match written {
            Err(status) if is_new && is_terminating(&status) => Ok(Next::Done),
            Err(status) => {
                let (namespace, name, why) = (&involved.namespace, &involved.name, &status.message);
                let (reason, message) = match is_new {
                    true => (
                        "FailedToCreateEndpoint",
                        format!("Failed to create endpoint for service {namespace}/{name}: {why}"),
                    ),
                    false => ("FailedToUpdateEndpoint", format!("Failed to update endpoint {namespace}/{name}: {why}")),
                };
                if self.failures.is_new(&key, &message) {
                    self.recorder.warn(involved, reason, message).await;
                }
                Err(status)
            }
            Ok(_) => {
                self.failures.forget(&key);
                Ok(Next::Done)
            }
        }
    }
}

/// The labels of endpoints: those of the service, and those that describe them.
fn labels(service: &Service) -> BTreeMap<String, String> {
    let mut labels = service.metadata.labels.clone();
    match has_address(service) {
        true => drop(labels.remove(HEADLESS)),
        false => drop(labels.insert(HEADLESS.into(), String::new())),
    }
    labels.insert(MANAGED_BY.into(), MANAGER.into());
    labels
}

/// Whether endpoints need no change. As upstream, a change of the label of headless services alone is
/// not written.
fn is_current(current: &Endpoints, service: &Service, wanted: &[EndpointSubset]) -> bool {
    let metadata = &current.metadata;
    let copied = |labels: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        let is_copied = |(key, _): &(&String, &String)| !matches!(key.as_str(), HEADLESS | MANAGED_BY);
        labels.iter().filter(is_copied).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    metadata.labels.get(MANAGED_BY).is_some_and(|manager| manager == MANAGER)
        && copied(&metadata.labels) == copied(&service.metadata.labels)
        && !metadata.annotations.contains_key(OVER_CAPACITY)
        && subsets::count(&current.subsets) <= subsets::MAX_ADDRESSES
        && (subsets::are_equal(&current.subsets, wanted)
            || subsets::are_equal(&subsets::repack(&current.subsets), wanted))
}
