//! Defaults of services and namespaces.

use machinery::scalar::IntOrString;

use generated::core::v1::{ClientIPConfig, Namespace, Service, ServiceSpec, SessionAffinityConfig};
use generated::core::v1::{
    load_balancer_ip_mode, service_affinity, service_external_traffic_policy, service_internal_traffic_policy,
    service_type,
};

/// Default duration of client IP session affinity, in seconds
/// (`DefaultClientIPServiceAffinitySeconds`).
const CLIENT_IP_SECONDS: i32 = 10_800;

/// Label with the name of a namespace, for selectors (KEP-2161).
pub(super) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Mirrors `SetDefaults_Namespace`; a namespace with a generated name gets the label later.
pub fn default_namespace(namespace: &mut Namespace) {
    let metadata = &mut namespace.metadata;
    if !metadata.name.is_empty() {
        metadata.labels.insert(NAMESPACE_NAME.to_owned(), metadata.name.clone());
    }
}

/// Mirrors `SetDefaults_Service`.
pub fn default_service(service: &mut Service) {
    let spec = &mut service.spec;
    default_session_affinity(spec);
    for port in &mut spec.ports {
        let unset = match &port.target_port {
            IntOrString::Int(number) => *number == 0,
            IntOrString::String(name) => name.is_empty(),
        };
        if unset {
            port.target_port = IntOrString::Int(port.port);
        }
    }
    if spec.external_traffic_policy.is_empty() && is_externally_accessible(spec) {
        spec.external_traffic_policy = service_external_traffic_policy::CLUSTER.to_owned();
    }
    let routed =
        matches!(&*spec.r#type, service_type::NODE_PORT | service_type::LOAD_BALANCER | service_type::CLUSTER_IP);
    if spec.internal_traffic_policy.is_none() && routed {
        spec.internal_traffic_policy = Some(service_internal_traffic_policy::CLUSTER.to_owned());
    }
    if spec.r#type == service_type::LOAD_BALANCER {
        spec.allocate_load_balancer_node_ports.get_or_insert(true);
        let ingress = &mut service.status.load_balancer.ingress;
        for point in ingress.iter_mut().filter(|point| !point.ip.is_empty() && point.ip_mode.is_none()) {
            point.ip_mode = Some(load_balancer_ip_mode::VIP.to_owned());
        }
    }
}

fn default_session_affinity(spec: &mut ServiceSpec) {
    match &*spec.session_affinity {
        service_affinity::NONE => spec.session_affinity_config = None,
        service_affinity::CLIENT_IP => {
            let config = spec.session_affinity_config.as_ref().and_then(|config| config.client_ip.as_ref());
            if config.is_none_or(|config| config.timeout_seconds.is_none()) {
                let client_ip = Some(Box::new(ClientIPConfig { timeout_seconds: Some(CLIENT_IP_SECONDS) }));
                spec.session_affinity_config = Some(Box::new(SessionAffinityConfig { client_ip }));
            }
        }
        _ => {}
    }
}

/// Whether clients outside of the cluster can reach the service (upstream `service.ExternallyAccessible`).
pub(super) fn is_externally_accessible(spec: &ServiceSpec) -> bool {
    match &*spec.r#type {
        service_type::LOAD_BALANCER | service_type::NODE_PORT => true,
        service_type::CLUSTER_IP => !spec.external_ips.is_empty(),
        _ => false,
    }
}
