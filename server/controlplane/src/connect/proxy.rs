//! Where `proxy` leads: an address of a pod, of a pod behind a service, of a node (upstream's `ResourceLocation` functions).

use std::net::IpAddr;

use endpoints::Connected;
use generated::core::v1::{EndpointAddress, EndpointSubset, Endpoints, Node, Pod, Service};
use machinery::status::{GroupResource, Status};
use serving::Response;

use super::Connect;

impl Connect {
    pub(super) async fn to_address_of_pod(&self, connected: &Connected<'_>) -> Result<Response, Status> {
        let target = Target::parse("pod", &connected.attributes.name)?;
        let pod: Pod = self.get("pods", &connected.attributes.namespace, target.name).await?;
        let ip = address_of_pod(&pod);
        if !ip.parse().is_ok_and(is_global_unicast) {
            return Err(Status::bad_request("address not allowed"));
        }
        Err(Status::not_implemented("a proxy to a pod"))
    }

    pub(super) async fn to_service(&self, connected: &Connected<'_>) -> Result<Response, Status> {
        let asked = connected.attributes.name.as_str();
        let namespace = connected.attributes.namespace.as_str();
        let target = Target::parse("service", asked)?;
        let mut port = target.port.to_owned();
        if let Ok(number) = port.parse::<i64>() {
            let service: Service = self.get("services", namespace, target.name).await?;
            let found = service.spec.ports.iter().find(|port| i64::from(port.port) == number);
            let missing = || unavailable(format!("no service port {number} found for service {:?}", target.name));
            port = found.ok_or_else(missing)?.name.clone();
        }
        let endpoints: Endpoints = self.get("endpoints", namespace, target.name).await.map_err(|status| {
            // Upstream says that the service is missing, whichever it is.
            let of = GroupResource { group: "", resource: "services" };
            if status.code == 404 { Status::not_found(of, target.name) } else { status }
        })?;
        if endpoints.subsets.is_empty() {
            return Err(unavailable(format!("no endpoints available for service {:?}", target.name)));
        }
        for subset in endpoints.subsets.iter().filter(|subset| has_port(subset, &port)) {
            for address in &subset.addresses {
                if self.is_address_of_pod(namespace, address).await {
                    return Err(Status::not_implemented("a proxy to a service"));
                }
            }
        }
        Err(unavailable(format!("no endpoints available for service {asked:?}")))
    }

    /// Endpoints can be written by anybody who may write them; only what is a pod's own address is trusted (`isValidAddress`).
    async fn is_address_of_pod(&self, namespace: &str, address: &EndpointAddress) -> bool {
        let Some(reference) = address.target_ref.as_deref().filter(|reference| reference.kind == "Pod") else {
            return false;
        };
        if reference.namespace != namespace {
            return false;
        }
        let pod: Result<Pod, Status> = self.get("pods", namespace, &reference.name).await;
        pod.is_ok_and(|pod| {
            let addresses = pod.status.pod_ips.iter().map(|pod_ip| &pod_ip.ip);
            addresses.chain([&pod.status.pod_ip]).any(|ip| *ip == address.ip)
        })
    }

    pub(super) async fn to_address_of_node(&self, connected: &Connected<'_>) -> Result<Response, Status> {
        let target = Target::parse("node", &connected.attributes.name)?;
        let node: Node = self.get("nodes", "", target.name).await?;
        let address = address_of_node(&node)?;
        if address.parse().is_ok_and(|ip| !is_global_unicast(ip)) {
            return Err(Status::bad_request("address not allowed"));
        }
        Err(Status::not_implemented("a proxy to a node"))
    }
}

fn unavailable(why: String) -> Status {
    Status::service_unavailable(why)
}

fn has_port(subset: &EndpointSubset, name: &str) -> bool {
    subset.ports.iter().any(|port| port.name == name)
}

fn address_of_pod(pod: &Pod) -> &str {
    pod.status.pod_ips.first().map_or(&pod.status.pod_ip, |first| &first.ip)
}

/// The kinds of addresses by which nodes are reached, best first (`--kubelet-preferred-address-types`).
const PREFERRED: [&str; 5] = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];

/// `GetPreferredNodeAddress`
pub fn address_of_node(node: &Node) -> Result<&str, Status> {
    let addresses = &node.status.addresses;
    let of_type = |wanted: &&str| addresses.iter().find(|address| address.r#type == *wanted);
    PREFERRED.iter().find_map(of_type).map(|address| address.address.as_str()).ok_or_else(|| {
        let known: Vec<String> =
            addresses.iter().map(|known| format!("{{{} {}}}", known.r#type, known.address)).collect();
        let why = format!("no preferred addresses found; known addresses: [{}]", known.join(" "));
        Status::new(500, "", why)
    })
}

/// What a name in the path means: `name`, `name:port` or `scheme:name:port` (`SplitSchemeNamePort`).
struct Target<'a> {
    name: &'a str,
    port: &'a str,
}

impl<'a> Target<'a> {
    fn parse(what: &str, asked: &'a str) -> Result<Self, Status> {
        let parts: Vec<&str> = asked.split(':').collect();
        let (scheme, name, port) = match parts.as_slice() {
            [name] => ("", *name, ""),
            [name, port] => ("", *name, *port),
            [scheme, name, port] => (*scheme, *name, *port),
            _ => ("", "", ""),
        };
        if name.is_empty() || !matches!(scheme, "" | "http" | "https") {
            return Err(Status::bad_request(format!("invalid {what} request {asked:?}")));
        }
        Ok(Target { name, port })
    }
}

/// Go's `net.IP.IsGlobalUnicast`
fn is_global_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            !(ip.is_broadcast() || ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || ip.is_link_local())
        }
        IpAddr::V6(ip) => !(ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || ip.is_unicast_link_local()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Target, is_global_unicast};

    #[test]
    fn a_name_says_scheme_and_port() {
        let check = |asked: &str, expect: Option<(&str, &str)>| {
            let parsed = Target::parse("pod", asked).ok().map(|target| (target.name, target.port));
            assert_eq!(parsed, expect, "{asked}");
        };
        check("a", Some(("a", "")));
        check("a:80", Some(("a", "80")));
        check("https:a:http", Some(("a", "http")));
        check(":a:", Some(("a", "")));
        check("ftp:a:80", None);
        check("http::80", None);
        check("a:b:c:d", None);
    }

    #[test]
    fn only_addresses_that_are_somebody_elses_are_reached() {
        let check = |ip: &str, expect: bool| assert_eq!(ip.parse().is_ok_and(is_global_unicast), expect, "{ip}");
        check("10.0.0.1", true);
        check("fd00::1", true);
        for refused in ["", "127.0.0.1", "169.254.169.254", "224.0.0.1", "255.255.255.255", "0.0.0.0", "::1", "fe80::1"]
        {
            check(refused, false);
        }
    }
}
