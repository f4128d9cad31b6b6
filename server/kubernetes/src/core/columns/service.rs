//! Columns of services and endpoints.

use std::collections::BTreeSet;

use machinery::print::{Cell, PrintContext, join_at_most, or};

use generated::core::v1::{EndpointSubset, Endpoints, Service, ServicePort, service_type};

pub fn endpoints_endpoints(endpoints: &Endpoints, _: &PrintContext) -> Cell {
    if endpoints.subsets.is_empty() {
        return "<none>".into();
    }
    let texts: Vec<String> = endpoints.subsets.iter().flat_map(subset_texts).collect();
    join_at_most(&texts, 3, texts.len()).into()
}

/// Every address with every port; only the addresses if there are no ports, as for headless services.
fn subset_texts(subset: &EndpointSubset) -> Vec<String> {
    if subset.ports.is_empty() {
        return subset.addresses.iter().map(|a| a.ip.clone()).collect();
    }
    let host = |ip: &str| if ip.contains(':') { format!("[{ip}]") } else { ip.to_string() };
    let with_port = |port: i32| subset.addresses.iter().map(move |a| format!("{}:{port}", host(&a.ip)));
    subset.ports.iter().flat_map(|p| with_port(p.port)).collect()
}

pub fn service_cluster_ip(service: &Service, _: &PrintContext) -> Cell {
    service.spec.cluster_ips.first().map_or("<none>", String::as_str).into()
}

pub fn service_external_ip(service: &Service, _: &PrintContext) -> Cell {
    let external = service.spec.external_ips.join(",");
    match service.spec.r#type.as_str() {
        service_type::CLUSTER_IP | service_type::NODE_PORT => or(external, "<none>").into(),
        service_type::LOAD_BALANCER => {
            let parts = [load_balancer_addresses(service), external];
            or(parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(","), "<pending>").into()
        }
        service_type::EXTERNAL_NAME => service.spec.external_name.as_str().into(),
        _ => "<unknown>".into(),
    }
}

fn load_balancer_addresses(service: &Service) -> String {
    let points = &service.status.load_balancer.ingress;
    let addresses: BTreeSet<&str> = points
        .iter()
        .map(|point| if point.ip.is_empty() { point.hostname.as_str() } else { point.ip.as_str() })
        .filter(|address| !address.is_empty())
        .collect();
    addresses.into_iter().collect::<Vec<_>>().join(",")
}

pub fn service_ports(service: &Service, _: &PrintContext) -> Cell {
    or(service.spec.ports.iter().map(port_text).collect::<Vec<_>>().join(","), "<none>").into()
}

fn port_text(port: &ServicePort) -> String {
    match port.node_port {
        0 => format!("{}/{}", port.port, port.protocol),
        node_port => format!("{}:{node_port}/{}", port.port, port.protocol),
    }
}
