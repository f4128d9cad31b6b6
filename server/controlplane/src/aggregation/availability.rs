//! Availability of the servers of APIServices (upstream: `remote.AvailableConditionController`,
//! `local.AvailableConditionController`).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use aggregator::{AggregatedServers, TaskMap};
use apimachinery::apiregistration::v1::{
    APIService, APIServiceCondition, ServiceReference, api_service_condition_type, condition_status,
};
use endpoints::Loopback;
use generated::core::v1::{Service, service_type};
use generated::discovery::v1::EndpointSlice;
use registry::{Clock, Informer};
use telemetry::metrics::WorkQueue;

use super::context::AggregationContext;
use super::metrics::AvailabilityMetrics;
use super::service_resolver::slices_of;
use super::{API_SERVICES, DEFAULT_PORT, condition, registration};

/// The probe interval of an available server.
const RESYNC: Duration = Duration::from_secs(30);
/// The initial and the maximum probe interval of an unavailable server. The maximum bounds the
/// delay after the server restarts.
const RETRY: Duration = Duration::from_millis(5);
const MAX_RETRY: Duration = Duration::from_secs(2);

/// Maintains the `Available` conditions.
#[derive(Clone)]
pub struct Availability {
    loopback: Arc<Loopback>,
    clock: Arc<dyn Clock>,
    api_services: Informer<APIService>,
    services: Option<Informer<Service>>,
    slices: Option<Informer<EndpointSlice>>,
    backends: Arc<AggregatedServers>,
    metrics: AvailabilityMetrics,
    local: WorkQueue,
    remote: WorkQueue,
}

/// The objects that determine the result of a check, besides the network.
#[derive(PartialEq)]
struct Inputs {
    reference: Option<ServiceReference>,
    service: Option<Arc<Service>>,
    slices: Vec<Arc<EndpointSlice>>,
}

impl Availability {
    pub fn new(
        context: &AggregationContext<'_>,
        loopback: &Arc<Loopback>,
        api_services: Informer<APIService>,
        backends: Arc<AggregatedServers>,
    ) -> Self {
        Availability {
            loopback: loopback.clone(),
            clock: context.clock.clone(),
            api_services,
            services: context.informers.of("", "services"),
            slices: context.informers.of("discovery.k8s.io", "endpointslices"),
            backends,
            metrics: AvailabilityMetrics::register(context.metrics.registry()),
            local: context.metrics.work_queue("LocalAvailabilityController"),
            remote: context.metrics.work_queue("RemoteAvailabilityController"),
        }
    }

    /// Checks every APIService. Remote ones have separate tasks, so that one slow server does not
    /// delay others. Does not return.
    pub async fn follow(self) {
        if let (Some(services), Some(slices)) = (&self.services, &self.slices) {
            services.synced().await;
            slices.synced().await;
        }
        let mut changes = self.api_services.changes();
        let mut each = TaskMap::default();
        loop {
            let (remote, local): (Vec<_>, Vec<_>) =
                self.api_services.all().into_iter().partition(|service| service.spec.service.is_some());
            let names: HashSet<String> = remote.iter().map(|service| service.metadata.name.clone()).collect();
            each.keep(&names, |name| self.clone().check_periodically(name));
            self.mark_local_available(&local).await;
            let is_local = |name: &str| local.iter().any(|service| service.metadata.name == name);
            self.metrics.keep(|name| names.contains(name) || is_local(name));
            if let Ok(Err(_)) = tokio::time::timeout(RESYNC, changes.changed()).await {
                return;
            }
        }
    }

    /// Sets the condition of local APIServices, which are always available.
    async fn mark_local_available(&self, services: &[Arc<APIService>]) {
        for service in services {
            let _working = self.local.add().begin();
            self.update_condition(service, Ok(("Local", "Local APIServices are always available".to_owned()))).await;
        }
    }

    async fn check_periodically(self, name: String) {
        let mut retry = RETRY;
        while let Some(service) = self.api_services.get("", &name) {
            let working = self.remote.add().begin();
            let inputs = self.inputs(&service);
            let Some(reference) = &inputs.reference else { return };
            let found = self.check(&service, reference, &inputs).await;
            let probed = matches!(found, Err(("FailedDiscoveryCheck", _)));
            let updated = self.update_condition(&service, found).await;
            drop(working);
            if !updated || probed {
                self.remote.failed();
            }
            retry = if updated && !probed { RETRY } else { (retry * 2).min(MAX_RETRY) };
            let pause = if updated && !probed { RESYNC } else { retry };
            let _ = tokio::time::timeout(pause, self.wait_for_changed_inputs(&name, &inputs)).await;
        }
    }

    fn inputs(&self, service: &APIService) -> Inputs {
        let Some(reference) = service.spec.service.as_deref().cloned() else {
            return Inputs { reference: None, service: None, slices: Vec::new() };
        };
        let (namespace, name) = (&reference.namespace, &reference.name);
        let found = self.services.as_ref().and_then(|services| services.get(namespace, name));
        let slices = self.slices.as_ref().map(|slices| slices_of(slices, namespace, name)).unwrap_or_default();
        Inputs { service: found, slices, reference: Some(reference) }
    }

    /// Waits until the inputs of a check change.
    async fn wait_for_changed_inputs(&self, name: &str, before: &Inputs) {
        let mut api_services = self.api_services.changes();
        let (Some(mut services), Some(mut slices)) =
            (self.services.as_ref().map(Informer::changes), self.slices.as_ref().map(Informer::changes))
        else {
            return;
        };
        loop {
            let Some(service) = self.api_services.get("", name) else { return };
            let inputs = self.inputs(&service);
            if inputs != *before || condition(&service).is_none() {
                return;
            }
            tokio::select! {
                _ = api_services.changed() => {}
                _ = services.changed() => {}
                _ = slices.changed() => {}
            }
        }
    }

    /// Checks an APIService. Returns the reason and message of the condition; `Err` means
    /// unavailable.
    async fn check(
        &self,
        api_service: &APIService,
        reference: &ServiceReference,
        inputs: &Inputs,
    ) -> Result<(&'static str, String), (&'static str, String)> {
        let ServiceReference { namespace, name, .. } = reference;
        let Some(service) = &inputs.service else {
            return Err(("ServiceNotFound", format!("service/{name} in {namespace:?} is not present")));
        };
        if service.spec.r#type == service_type::CLUSTER_IP {
            check_endpoints(reference, service, &inputs.slices)?;
        }
        match self.backends.probe(&registration(api_service)).await {
            Ok(()) => Ok(("Passed", "all checks passed".into())),
            Err(error) => Err(("FailedDiscoveryCheck", error.to_string())),
        }
    }

    /// Updates the condition if it changed. Returns false on failure.
    async fn update_condition(
        &self,
        service: &APIService,
        found: Result<(&'static str, String), (&'static str, String)>,
    ) -> bool {
        let status = if found.is_ok() { condition_status::TRUE } else { condition_status::FALSE };
        let (reason, message) = found.unwrap_or_else(|why| why);
        let before = condition(service);
        let was_available = before.is_some_and(|condition| condition.status == condition_status::TRUE);
        let show = || {
            self.metrics.observe(
                &service.metadata.name,
                was_available,
                Some(reason).filter(|_| status == condition_status::FALSE),
            )
        };
        if before.is_some_and(|c| (c.status.as_str(), c.reason.as_str(), &c.message) == (status, reason, &message)) {
            show();
            return true;
        }
        let since = before.filter(|c| c.status == status).map(|c| c.last_transition_time);
        let now = APIServiceCondition {
            r#type: api_service_condition_type::AVAILABLE.into(),
            status: status.into(),
            last_transition_time: since.unwrap_or_else(|| self.clock.now()),
            reason: reason.into(),
            message,
        };
        let mut changed = service.clone();
        match changed.status.conditions.iter_mut().find(|c| c.r#type == now.r#type) {
            Some(old) => *old = now,
            None => changed.status.conditions.push(now),
        }
        match self.loopback.update_status(API_SERVICES, changed).await {
            Ok(_) => {
                show();
                true
            }
            // The APIService was changed or deleted meanwhile and is checked again.
            Err(status) if matches!(status.code, 404 | 409) => false,
            Err(status) => {
                tracing::warn!(
                    name = service.metadata.name,
                    why = status.message,
                    "cannot update the Available condition of an APIService; retrying"
                );
                false
            }
        }
    }
}

/// Requires that a service has the port and ready endpoints for it.
fn check_endpoints(
    reference: &ServiceReference,
    service: &Service,
    slices: &[Arc<EndpointSlice>],
) -> Result<(), (&'static str, String)> {
    let ServiceReference { namespace, name, .. } = reference;
    let port = reference.port.unwrap_or(DEFAULT_PORT);
    let Some(listening) = service.spec.ports.iter().find(|p| p.port == port) else {
        return Err(("ServicePortError", format!("service/{name} in {namespace:?} is not listening on port {port}")));
    };
    if slices.is_empty() {
        let message = format!("cannot find endpointslices for service/{name} in {namespace:?}");
        return Err(("EndpointsNotFound", message));
    }
    let active = |slice: &Arc<EndpointSlice>| {
        slice.endpoints.iter().any(|e| e.conditions.ready.unwrap_or(true))
            && slice.ports.iter().any(|p| p.name.as_deref() == Some(&listening.name) && p.port.is_some())
    };
    if !slices.iter().any(active) {
        let named = &listening.name;
        let message =
            format!("endpointslices for service/{name} in {namespace:?} have no addresses with port name {named:?}");
        return Err(("MissingEndpoints", message));
    }
    Ok(())
}
