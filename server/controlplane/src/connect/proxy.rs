//! `proxy`: forwards requests to a pod, a pod of a service, or a node (upstream's
//! `ResourceLocation` functions).

use ::proxy::{Location, forward};
use endpoints::ConnectRequest;
use generated::core::v1::{
    EndpointAddress, Endpoints, NodeProxyOptions, Pod, PodProxyOptions, Service, ServiceProxyOptions,
};
use machinery::status::{GroupResource, Status};
use request::{Request, Response};
use webhook::{Route, Trust, is_remote};

use super::{Connect, admitted};

/// Trust for pods and services, which are reached by address, so that certificates cannot be
/// verified (upstream: `CreateProxyTransport`).
const UNVERIFIED_TRUST: Trust = Trust {
    authorities: Vec::new(),
    insecure: true,
    identity: None,
    server_name: None,
    remote_only: true,
    route: Route::DIRECT,
};

impl Connect {
    pub(super) async fn proxy_to_pod(
        &self,
        connected: ConnectRequest<'_>,
        request: Request,
    ) -> Result<Response, Status> {
        let options = PodProxyOptions { path: connected.subpath(), ..connected.options()? };
        let path = admitted(&connected, options).await?.path;
        let target = Target::parse("pod", &connected.attributes.name)?;
        let pod: Pod = self.get("pods", &connected.attributes.namespace, target.name).await?;
        let host = pod.status.pod_ips.first().map_or(&pod.status.pod_ip, |first| &first.ip).clone();
        if !host.parse().is_ok_and(is_remote) {
            return Err(Status::bad_request("address not allowed"));
        }
        let port = if target.port.is_empty() { first_port(&pod) } else { target.port.to_owned() };
        let location = self.paced(Location { scheme: target.scheme, host, port, path, ..Location::default() });
        forward(&self.client(UNVERIFIED_TRUST)?, location, request).await
    }

    pub(super) async fn proxy_to_service(
        &self,
        connected: ConnectRequest<'_>,
        request: Request,
    ) -> Result<Response, Status> {
        let options = ServiceProxyOptions { path: connected.subpath(), ..connected.options()? };
        let path = admitted(&connected, options).await?.path;
        let requested = connected.attributes.name.as_str();
        let target = Target::parse("service", requested)?;
        let (host, port) = self.backend_of_service(&connected.attributes.namespace, requested, &target).await?;
        let location = Location { scheme: target.scheme, host, port: port.to_string(), path, ..Location::default() };
        let location = self.paced(location);
        forward(&self.client(UNVERIFIED_TRUST)?, location, request).await
    }

    pub(super) async fn proxy_to_node(
        &self,
        connected: ConnectRequest<'_>,
        request: Request,
    ) -> Result<Response, Status> {
        let options = NodeProxyOptions { path: connected.subpath(), ..connected.options()? };
        let path = admitted(&connected, options).await?.path;
        let target = Target::parse("node", &connected.attributes.name)?;
        let kubelet = self.kubelet(target.name).await?;
        let is_kubelet = ["", &kubelet.port].contains(&target.port);
        let (scheme, port, client) = if is_kubelet {
            ("https", kubelet.port, self.client_of_kubelets(|trust| trust.remote_only = true)?)
        } else {
            (target.scheme, target.port.to_owned(), self.client(UNVERIFIED_TRUST)?)
        };
        let location = self.paced(Location { scheme, host: kubelet.host, port, path, ..Location::default() });
        forward(&client, location, request).await
    }

    /// Returns a random address of a service (upstream: `REST.ResourceLocation` of services).
    async fn backend_of_service(
        &self,
        namespace: &str,
        requested: &str,
        target: &Target<'_>,
    ) -> Result<(String, i32), Status> {
        let mut port = target.port.to_owned();
        if let Ok(number) = port.parse::<i64>() {
            let service: Service = self.get("services", namespace, target.name).await?;
            let found = service.spec.ports.iter().find(|port| i64::from(port.port) == number);
            let missing = || unavailable(format!("no service port {number} found for service {:?}", target.name));
            port = found.ok_or_else(missing)?.name.clone();
        }
        let endpoints: Endpoints = self.get("endpoints", namespace, target.name).await.map_err(|status| {
            // Upstream reports a missing service even if the endpoints are missing.
            let of = GroupResource { group: "", resource: "services" };
            if status.code == 404 { Status::not_found(of, target.name) } else { status }
        })?;
        if endpoints.subsets.is_empty() {
            return Err(unavailable(format!("no endpoints available for service {:?}", target.name)));
        }
        for subset in shuffled(&endpoints.subsets) {
            let Some(found) = subset.ports.iter().find(|known| known.name == port) else { continue };
            for address in shuffled(&subset.addresses) {
                if self.is_address_of_pod(namespace, address).await {
                    return Ok((address.ip.clone(), found.port));
                }
            }
        }
        Err(unavailable(format!("no endpoints available for service {requested:?}")))
    }

    /// Whether an endpoint is the address of its pod. Users can write arbitrary endpoints, so other
    /// addresses are rejected (`isValidAddress`).
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
}

fn unavailable(why: String) -> Status {
    Status::service_unavailable(why)
}

/// Returns all items in order, starting at a random one.
fn shuffled<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let first = if all.is_empty() { 0 } else { rand::random_range(0..all.len()) };
    all.iter().cycle().skip(first).take(all.len())
}

/// Returns the first declared port of the pod's containers.
fn first_port(pod: &Pod) -> String {
    let mut ports = pod.spec.containers.iter().flat_map(|container| container.ports.first());
    ports.next().map(|port| port.container_port.to_string()).unwrap_or_default()
}

/// A parsed name of the path: `name`, `name:port`, or `scheme:name:port` (`SplitSchemeNamePort`).
struct Target<'a> {
    scheme: &'static str,
    name: &'a str,
    port: &'a str,
}

impl<'a> Target<'a> {
    fn parse(what: &str, requested: &'a str) -> Result<Self, Status> {
        let parts: Vec<&str> = requested.split(':').collect();
        let (scheme, name, port) = match parts.as_slice() {
            [name] => ("", *name, ""),
            [name, port] => ("", *name, *port),
            [scheme, name, port] => (*scheme, *name, *port),
            _ => ("", "", ""),
        };
        let scheme = match scheme {
            "" | "http" if !name.is_empty() => "http",
            "https" if !name.is_empty() => "https",
            _ => return Err(Status::bad_request(format!("invalid {what} request {requested:?}"))),
        };
        Ok(Target { scheme, name, port })
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn parses_scheme_and_port() {
        let check = |requested: &str, expect: Option<(&str, &str, &str)>| {
            let parsed = Target::parse("pod", requested).ok().map(|target| (target.scheme, target.name, target.port));
            assert_eq!(parsed, expect, "{requested}");
        };
        check("a", Some(("http", "a", "")));
        check("a:80", Some(("http", "a", "80")));
        check("https:a:http", Some(("https", "a", "http")));
        check(":a:", Some(("http", "a", "")));
        check("ftp:a:80", None);
        check("http::80", None);
        check("a:b:c:d", None);
    }
}
