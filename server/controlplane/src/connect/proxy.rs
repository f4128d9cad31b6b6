//! `proxy`: requests passed on to an address of a pod, of a pod behind a service, of a node (upstream's `ResourceLocation` functions).

use ::proxy::{Location, forward};
use endpoints::ConnectRequest;
use generated::core::v1::{
    EndpointAddress, Endpoints, NodeProxyOptions, Pod, PodProxyOptions, Service, ServiceProxyOptions,
};
use machinery::status::{GroupResource, Status};
use serving::{Request, Response};
use webhook::{Route, Trust, is_remote};

use super::{Connect, admitted};

/// Pods and services are reached at addresses, which no certificate names (upstream: `CreateProxyTransport`).
const WHOEVER_ANSWERS: Trust = Trust {
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
        forward(&self.client(WHOEVER_ANSWERS)?, location, request).await
    }

    pub(super) async fn proxy_to_service(
        &self,
        connected: ConnectRequest<'_>,
        request: Request,
    ) -> Result<Response, Status> {
        let options = ServiceProxyOptions { path: connected.subpath(), ..connected.options()? };
        let path = admitted(&connected, options).await?.path;
        let asked = connected.attributes.name.as_str();
        let target = Target::parse("service", asked)?;
        let (host, port) = self.backend_of_service(&connected.attributes.namespace, asked, &target).await?;
        let location = Location { scheme: target.scheme, host, port: port.to_string(), path, ..Location::default() };
        let location = self.paced(location);
        forward(&self.client(WHOEVER_ANSWERS)?, location, request).await
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
            (target.scheme, target.port.to_owned(), self.client(WHOEVER_ANSWERS)?)
        };
        let location = self.paced(Location { scheme, host: kubelet.host, port, path, ..Location::default() });
        forward(&client, location, request).await
    }

    /// An address behind a service, any of those that it has (upstream: `REST.ResourceLocation` of services).
    async fn backend_of_service(
        &self,
        namespace: &str,
        asked: &str,
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
            // Upstream says that the service is missing, whichever it is.
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
}

fn unavailable(why: String) -> Status {
    Status::service_unavailable(why)
}

/// All of them, the first one by chance.
fn shuffled<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let first = if all.is_empty() { 0 } else { rand::random_range(0..all.len()) };
    all.iter().cycle().skip(first).take(all.len())
}

/// The first port that a container of the pod declares.
fn first_port(pod: &Pod) -> String {
    let mut ports = pod.spec.containers.iter().flat_map(|container| container.ports.first());
    ports.next().map(|port| port.container_port.to_string()).unwrap_or_default()
}

/// What a name in the path means: `name`, `name:port` or `scheme:name:port` (`SplitSchemeNamePort`).
struct Target<'a> {
    scheme: &'static str,
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
        let scheme = match scheme {
            "" | "http" if !name.is_empty() => "http",
            "https" if !name.is_empty() => "https",
            _ => return Err(Status::bad_request(format!("invalid {what} request {asked:?}"))),
        };
        Ok(Target { scheme, name, port })
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_name_says_scheme_and_port() {
        let check = |asked: &str, expect: Option<(&str, &str, &str)>| {
            let parsed = Target::parse("pod", asked).ok().map(|target| (target.scheme, target.name, target.port));
            assert_eq!(parsed, expect, "{asked}");
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
