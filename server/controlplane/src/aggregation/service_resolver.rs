//! Addresses of cluster Services (upstream: `util/proxy.ResolveCluster`, `ResolveEndpoint`).

use std::net::SocketAddr;
use std::sync::Arc;

use generated::core::v1::{Service, ServicePort, service_type};
use generated::discovery::v1::EndpointSlice;
use rand::Rng;
use rand::seq::SliceRandom;
use registry::{Informer, Informers};
use webhook::{Error, ServiceAddress};

/// Resolves Services from stored objects.
pub struct ServiceResolver {
    services: Option<Informer<Service>>,
    slices: Option<Informer<EndpointSlice>>,
    /// Whether to select an endpoint here instead of routing to the cluster IP.
    to_endpoints: bool,
    /// The address of this server, which is also the address of the service `kubernetes`.
    own: Option<SocketAddr>,
}

/// The label that names the service of a slice.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";

impl ServiceResolver {
    /// Starts the required informers. Needs a tokio runtime.
    pub fn new(informers: &Informers, to_endpoints: bool, own: Option<SocketAddr>) -> Self {
        ServiceResolver {
            services: informers.of("", "services"),
            slices: informers.of("discovery.k8s.io", "endpointslices"),
            to_endpoints,
            own,
        }
    }

    fn slices_of(&self, service: &Service) -> Vec<Arc<EndpointSlice>> {
        let Some(slices) = &self.slices else { return Vec::new() };
        slices_of(slices, &service.metadata.namespace, &service.metadata.name)
    }

    /// Selects a ready endpoint, of the preferred IP family if available.
    fn endpoint(&self, service: &Service, port: &ServicePort) -> Result<String, Error> {
        let name = &service.metadata.name;
        let mut slices = self.slices_of(service);
        slices.shuffle(&mut rand::rng());
        if let Some(family) = service.spec.ip_families.first() {
            slices.sort_by_key(|slice| &slice.address_type != family);
        }
        for slice in &slices {
            let number = slice.ports.iter().find(|p| p.name.as_deref() == Some(&port.name)).and_then(|p| p.port);
            let ready =
                |e: &&generated::discovery::v1::Endpoint| e.conditions.ready.unwrap_or(true) && !e.addresses.is_empty();
            let ready: Vec<_> = slice.endpoints.iter().filter(ready).collect();
            if let (Some(number), false) = (number, ready.is_empty()) {
                return Ok(join(&ready[rand::rng().random_range(0..ready.len())].addresses[0], number));
            }
        }
        Err(Error::Service(format!("no endpoints available for service {name:?}")))
    }
}

/// Returns the slices of a service.
pub fn slices_of(slices: &Informer<EndpointSlice>, namespace: &str, name: &str) -> Vec<Arc<EndpointSlice>> {
    let mut all = slices.in_namespace(namespace);
    all.retain(|slice| slice.metadata.labels.get(SERVICE_NAME).is_some_and(|of| of == name));
    all
}

impl ServiceAddress for ServiceResolver {
    fn resolve(&self, namespace: &str, name: &str, port: i32) -> Result<String, Error> {
        if let (Some(own), "default", "kubernetes", 443) = (self.own, namespace, name, port) {
            return Ok(own.to_string());
        }
        let missing = || Error::Service(format!("service {name:?} not found"));
        let service = self.services.as_ref().and_then(|all| all.get(namespace, name)).ok_or_else(missing)?;
        let spec = &service.spec;
        let headless = spec.r#type == service_type::CLUSTER_IP && spec.cluster_ip == "None";
        match spec.r#type.as_str() {
            service_type::CLUSTER_IP if headless && !self.to_endpoints => {
                return Err(Error::Service("cannot route to service with ClusterIP \"None\"".into()));
            }
            service_type::CLUSTER_IP | service_type::LOAD_BALANCER | service_type::NODE_PORT => {}
            service_type::EXTERNAL_NAME if !self.to_endpoints => return Ok(join(&spec.external_name, port)),
            other => return Err(Error::Service(format!("unsupported service type {other:?}"))),
        }
        let found = spec.ports.iter().find(|p| p.port == port);
        let found =
            found.ok_or_else(|| Error::Service(format!("no service port {port} found for service {name:?}")))?;
        if self.to_endpoints { self.endpoint(&service, found) } else { Ok(join(&spec.cluster_ip, port)) }
    }
}

/// `net.JoinHostPort`
pub fn join(host: &str, port: i32) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
