//! The `kubernetes` service with its Endpoints and EndpointSlice, through which pods reach the API
//! servers

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::{
    EndpointAddress, EndpointPort, EndpointSubset, Endpoints, Service, ServicePort, ip_family_policy, protocol,
    service_type,
};
use generated::discovery::v1::{self as discovery, EndpointConditions, EndpointSlice};
use machinery::scalar::IntOrString;
use machinery::status::Status;
use options::Options;
use registry::{Backend, Informer, Informers};
use serving::shutdown::Shutdown;

use super::families;
use super::masters::Masters;
use crate::leases::{self, INTERVAL};

const NAMESPACE: &str = "default";
const NAME: &str = "kubernetes";
const PORT_NAME: &str = "https";
const PORT: i32 = 443;
const SERVICES: GroupVersionResource = ("", "v1", "services");
const ENDPOINTS: GroupVersionResource = ("", "v1", "endpoints");
const SLICES: GroupVersionResource = ("discovery.k8s.io", "v1", "endpointslices");
/// Retry delay: the cluster IP may still belong to a service that was just deleted.
const RETRY: Duration = Duration::from_millis(500);

/// Creates missing objects and starts their reconciliation.
pub async fn start(
    options: &Options,
    backend: &Backend,
    informers: &Informers,
    shutdown: &Shutdown,
    loopback: &Arc<Loopback>,
) -> Result<(), Status> {
    let Some(cluster) = options.services.cluster_ip_ranges.first().and_then(|range| range.nth(1)) else {
        return Ok(());
    };
    let server = advertised_ip(options);
    if server.is_none() {
        tracing::warn!("no address of this host is reachable by pods; set --advertise-address");
    }
    let reconciler = Arc::new(Reconciler {
        loopback: loopback.clone(),
        cluster,
        server: server.filter(|_| options.services.reconciles_endpoints),
        masters: Masters::new(backend),
        port: options.serving.secure_port.into(),
        node_port: options.services.kubernetes_node_port,
    });
    reconciler.reconcile().await?;
    let Some(services) = informers.of::<Service>(SERVICES.0, SERVICES.2) else { return Ok(()) };
    let following = tokio::spawn(follow(reconciler.clone(), services));
    leases::until_shutdown(shutdown, "service", following, async move { reconciler.release().await });
    Ok(())
}

async fn follow(reconciler: Arc<Reconciler>, services: Informer<Service>) {
    services.synced().await;
    let mut failed = false;
    loop {
        if failed {
            tokio::time::sleep(RETRY).await;
        } else {
            let _ = tokio::time::timeout(INTERVAL, missing(&services)).await;
        }
        let outcome = reconciler.reconcile().await;
        failed = outcome.is_err();
        if let Err(status) = outcome {
            tracing::warn!(why = status.message, "cannot reconcile the `kubernetes` service; retrying");
        }
    }
}

/// Waits until the service is missing.
async fn missing(services: &Informer<Service>) {
    let mut changes = services.changes();
    while services.get(NAMESPACE, NAME).is_some() && changes.changed().await.is_ok() {}
}

/// Reconciles the service and its endpoints.
struct Reconciler {
    loopback: Arc<Loopback>,
    /// The cluster IP of the service.
    cluster: IpAddr,
    /// The address of this server, if pods can reach it.
    server: Option<IpAddr>,
    masters: Masters,
    port: i32,
    /// The node port of the service, if any (`--kubernetes-service-node-port`).
    node_port: Option<u16>,
}

impl Reconciler {
    async fn reconcile(&self) -> Result<(), Status> {
        self.reconcile_service().await?;
        let Some(server) = self.server else { return Ok(()) };
        self.masters.renew(server).await?;
        self.reconcile_addresses(server).await
    }

    /// Removes this server from the endpoints of the service.
    async fn release(&self) -> Result<(), Status> {
        let Some(server) = self.server else { return Ok(()) };
        self.masters.remove(server).await?;
        self.reconcile_addresses(server).await
    }

    /// Sets the endpoints to all live servers of this server's IP family.
    async fn reconcile_addresses(&self, server: IpAddr) -> Result<(), Status> {
        let mut servers = self.masters.all().await?;
        servers.retain(|other| other.is_ipv4() == server.is_ipv4());
        self.reconcile_endpoints(&servers).await?;
        self.reconcile_slice(server, &servers).await
    }

    async fn reconcile_service(&self) -> Result<(), Status> {
        let target = IntOrString::Int(self.port);
        let port = ServicePort {
            name: PORT_NAME.into(),
            port: PORT,
            protocol: protocol::TCP.into(),
            target_port: target,
            node_port: self.node_port.map_or(0, i32::from),
            ..ServicePort::default()
        };
        let Some(mut service) = self.loopback.get::<Service>(SERVICES, NAMESPACE, NAME).await? else {
            return self.loopback.create(SERVICES, self.service(port)).await.map(drop);
        };
        let same = |other: &ServicePort| {
            (&other.name, other.port, &other.protocol, &other.target_port, other.node_port)
                == (&port.name, port.port, &port.protocol, &port.target_port, port.node_port)
        };
        if service.spec.r#type == self.service_type() && matches!(service.spec.ports.as_slice(), [one] if same(one)) {
            return Ok(());
        }
        service.spec.r#type = self.service_type().into();
        service.spec.ports = vec![port];
        self.loopback.update(SERVICES, service).await.map(drop)
    }

    fn service_type(&self) -> &'static str {
        if self.node_port.is_some() { service_type::NODE_PORT } else { service_type::CLUSTER_IP }
    }

    fn service(&self, port: ServicePort) -> Service {
        let mut service = Service::default();
        service.metadata.name = NAME.into();
        service.metadata.namespace = NAMESPACE.into();
        service.metadata.labels =
            [("component", "apiserver"), ("provider", "kubernetes")].map(|(k, v)| (k.into(), v.into())).into();
        service.spec.r#type = self.service_type().into();
        service.spec.ports = vec![port];
        service.spec.cluster_ip = self.cluster.to_string();
        service.spec.ip_family_policy = Some(ip_family_policy::SINGLE_STACK.into());
        service
    }

    async fn reconcile_endpoints(&self, servers: &[IpAddr]) -> Result<(), Status> {
        let address = |server: &IpAddr| EndpointAddress { ip: server.to_string(), ..EndpointAddress::default() };
        let addresses: Vec<EndpointAddress> = servers.iter().map(address).collect();
        let port = EndpointPort {
            name: PORT_NAME.into(),
            port: self.port,
            protocol: protocol::TCP.into(),
            ..EndpointPort::default()
        };
        let subset = EndpointSubset { addresses, ports: vec![port], ..EndpointSubset::default() };
        let subsets: Vec<EndpointSubset> = (!servers.is_empty()).then_some(subset).into_iter().collect();
        match self.loopback.get::<Endpoints>(ENDPOINTS, NAMESPACE, NAME).await? {
            Some(endpoints) if endpoints.subsets == subsets => Ok(()),
            Some(mut endpoints) => {
                endpoints.subsets = subsets;
                self.loopback.update(ENDPOINTS, endpoints).await.map(drop)
            }
            None => {
                let mut endpoints = Endpoints { subsets, ..Endpoints::default() };
                endpoints.metadata.name = NAME.into();
                endpoints.metadata.namespace = NAMESPACE.into();
                endpoints.metadata.labels.insert("endpointslice.kubernetes.io/skip-mirror".into(), "true".into());
                self.loopback.create(ENDPOINTS, endpoints).await.map(drop)
            }
        }
    }

    async fn reconcile_slice(&self, server: IpAddr, servers: &[IpAddr]) -> Result<(), Status> {
        let conditions = EndpointConditions { ready: Some(true), ..EndpointConditions::default() };
        let endpoint = |server: &IpAddr| discovery::Endpoint {
            addresses: vec![server.to_string()],
            conditions: conditions.clone(),
            ..discovery::Endpoint::default()
        };
        let port = discovery::EndpointPort {
            name: Some(PORT_NAME.into()),
            port: Some(self.port),
            protocol: Some(protocol::TCP.into()),
            ..discovery::EndpointPort::default()
        };
        let (endpoints, ports) = (servers.iter().map(endpoint).collect::<Vec<_>>(), vec![port]);
        match self.loopback.get::<EndpointSlice>(SLICES, NAMESPACE, NAME).await? {
            Some(slice) if slice.endpoints == endpoints && slice.ports == ports => Ok(()),
            Some(mut slice) => {
                (slice.endpoints, slice.ports) = (endpoints, ports);
                self.loopback.update(SLICES, slice).await.map(drop)
            }
            None => {
                let address_type = families::of(server).to_owned();
                let mut slice = EndpointSlice { address_type, endpoints, ports, ..EndpointSlice::default() };
                slice.metadata.name = NAME.into();
                slice.metadata.namespace = NAMESPACE.into();
                slice.metadata.labels.insert("kubernetes.io/service-name".into(), NAME.into());
                self.loopback.create(SLICES, slice).await.map(drop)
            }
        }
    }
}

/// Returns the address at which pods reach this server: the advertise address, else the bind
/// address, else the host's outbound address. Loopback addresses are excluded, because upstream's
/// validation of endpoints rejects them.
pub fn advertised_ip(options: &Options) -> Option<IpAddr> {
    let serving = &options.serving;
    let reachable = |address: &IpAddr| !address.is_loopback() && !address.is_unspecified();
    let outward = || {
        // No packet is sent: connecting a UDP socket only selects a route. The addresses are
        // reserved for documentation (RFC 5737, RFC 3849).
        let (from, to): (IpAddr, IpAddr) = match serving.bind_address {
            IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(203, 0, 113, 1).into()),
            IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()),
        };
        let socket = UdpSocket::bind((from, 0)).ok()?;
        socket.connect((to, 9)).ok()?;
        socket.local_addr().ok().map(|address| address.ip())
    };
    let configured = serving.advertise_address.or(Some(serving.bind_address)).filter(reachable);
    configured.or_else(outward).filter(reachable)
}
