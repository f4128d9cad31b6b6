//! Proxies requests for resources that only a peer serves (upstream:
//! `peerProxyHandler.WrapHandler`).

use std::sync::Arc;

use http::HeaderValue;
use machinery::status::Status;
use rand::seq::IndexedRandom;
use request::{BoxFuture, Handler, Request, RequestExt, RequestInfo, Response, respond};

use super::metrics::GroupVersionResource;
use super::{PEER_PROXIED, PeerProxy};
use crate::aggregated_servers::target;
use crate::proxy;

/// The innermost filter. It runs after authentication and authorization.
pub struct WithPeers {
    peers: Arc<PeerProxy>,
    next: Arc<dyn Handler>,
}

impl WithPeers {
    /// Creates a filter in front of the local servers.
    pub fn new(peers: Arc<PeerProxy>, next: Arc<dyn Handler>) -> Self {
        WithPeers { peers, next }
    }
}

impl Handler for WithPeers {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        match self.peers.peers_serving(&request) {
            Some((info, servers)) => Box::pin(async move { self.peers.proxy_request(request, &info, &servers).await }),
            None => self.next.handle(request),
        }
    }
}

impl PeerProxy {
    /// Returns the peers that serve the requested resource, if this server does not.
    fn peers_serving(&self, request: &Request) -> Option<(Arc<RequestInfo>, Vec<String>)> {
        let info = request.info().filter(|info| info.is_resource_request)?;
        let is_proxied = request.headers().get(PEER_PROXIED).is_some_and(|value| value == "true");
        let [group, version, resource] = group_version_resource(info);
        if is_proxied || self.discovery.serves(group, version, resource) {
            return None;
        }
        let servers = self.discovery.peers().served().servers(group, version, resource).to_vec();
        (!servers.is_empty()).then(|| (info.clone(), servers))
    }

    /// Proxies the request to one of these servers.
    async fn proxy_request(&self, mut request: Request, info: &RequestInfo, servers: &[String]) -> Response {
        let Some(user) = request.user().cloned() else {
            return respond::failure(&request, &Status::bad_request("no user details present in request"));
        };
        let Some(target) = self.locate(servers).await.and_then(|address| target(&address, info).ok()) else {
            self.metrics.unresolved(group_version_resource(info));
            let why = "Error getting ip and port info of the remote server while proxying";
            return respond::failure(&request, &Status::service_unavailable(why));
        };
        // Overwrites a value of the client: the peer must not proxy the request again.
        request.headers_mut().insert(PEER_PROXIED, HeaderValue::from_static("true"));
        let response = proxy::exchange(&self.client, &target, &user, request).await;
        self.metrics.rerouted(response.status().as_u16(), group_version_resource(info));
        response
    }

    /// Returns the address of one of these servers, chosen at random from those with an address.
    async fn locate(&self, servers: &[String]) -> Option<String> {
        let mut addresses = Vec::new();
        for server in servers {
            match self.addresses.find(server).await {
                Ok(address) => addresses.push(address),
                Err(error) => tracing::warn!(server, %error, "cannot resolve the address of a peer API server"),
            }
        }
        addresses.choose(&mut rand::rng()).cloned()
    }
}

fn group_version_resource(info: &RequestInfo) -> GroupVersionResource<'_> {
    [&info.api_group, &info.api_version, &info.resource]
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use async_trait::async_trait;
    use endpoints::{AggregatedServer, Discovery, PeerAddresses, PeerResources, Registration};
    use http_body_util::BodyExt;
    use prometheus::{Registry, TextEncoder};
    use request::handler::FromFn;
    use request::{Body, User};
    use serde_json::json;
    use webhook::Route;

    use super::*;

    /// No process listens at the address of one server; the other has no address.
    struct Addresses;

    #[async_trait]
    impl PeerAddresses for Addresses {
        async fn find(&self, server: &str) -> Result<String, endpoints::Error> {
            if server == "away" {
                Ok("127.0.0.1:1".into())
            } else {
                Err(endpoints::Error::NoPeerAddress { server: server.into() })
            }
        }
    }

    /// Discovery with peers that serve `lost/v1`, `away/v1` and `both/v1`. An aggregated server
    /// also serves `behind/v1`.
    fn discovery() -> Arc<Discovery> {
        let discovery = Discovery::default();
        let of = |groups: &[&str]| {
            let group = |name: &&str| json!({"metadata": {"name": name}, "versions": [{"version": "v1", "resources": [{"resource": "things"}]}]});
            groups.iter().map(group).collect()
        };
        let groups = [("lost", of(&["lost", "both", "behind"])), ("away", of(&["away", "both"]))];
        let groups: BTreeMap<_, _> = groups.into_iter().map(|(server, groups)| (server.to_owned(), groups)).collect();
        discovery.set_peer_resources(PeerResources::new(groups, &BTreeSet::new()));
        let backend = AggregatedServer {
            namespace: "default".into(),
            name: "back".into(),
            port: 443,
            ca_bundle: Vec::new(),
            insecure: false,
            available: true,
        };
        let (group, version) = ("behind".into(), "v1".into());
        let backend = Some(Arc::new(backend));
        let registration = Registration { group, version, group_priority: 1, version_priority: 1, backend };
        discovery.registrations().replace(vec![registration]);
        Arc::new(discovery)
    }

    #[tokio::test]
    async fn proxies_requests_for_resources_of_peers() {
        let (registry, route) = (Registry::new(), Route::DIRECT);
        let peers = PeerProxy::new(Vec::new(), None, route, Arc::new(Addresses), discovery(), &registry).unwrap();
        let next = Arc::new(FromFn(|_| Response::new(Body::from("here"))));
        let filter = WithPeers::new(Arc::new(peers), next);
        let unresolved = "Error getting ip and port info of the remote server while proxying";
        let refused = "error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused";
        for (path, rerouted, expect) in [
            ("/version", "", "here"),
            ("/apis/lost/v1", "", "here"),
            ("/apis/unserved/v1/things", "", "here"),
            ("/apis/away/v1/others", "", "here"),
            ("/apis/behind/v1/things", "", "here"),
            ("/apis/away/v1/things", "true", "here"),
            ("/apis/lost/v1/things/a", "", unresolved),
            ("/apis/away/v1/namespaces/default/things?watch=1", "", refused),
            ("/apis/both/v1/things", "", refused),
        ] {
            let mut request = Request::new(Body::default());
            *request.uri_mut() = path.parse().unwrap();
            request.headers_mut().insert(PEER_PROXIED, rerouted.parse().unwrap());
            let info = RequestInfo::new(request.method(), request.uri()).unwrap();
            request.extensions_mut().insert(Arc::new(info));
            request.extensions_mut().insert(Arc::new(User::new("jane", ["dev"])));
            let (head, body) = filter.handle(request).await.into_parts();
            let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
            assert!(body.contains(expect) && (head.status == 200) == (expect == "here"), "{path}: {body}");
        }
        let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        let counts: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            counts,
            [
                "apiserver_peer_proxy_errors_total{group=\"lost\",resource=\"things\",type=\"endpoint_resolution\",version=\"v1\"} 1",
                "apiserver_rerouted_request_total{code=\"503\",group=\"away\",resource=\"things\",version=\"v1\"} 1",
                "apiserver_rerouted_request_total{code=\"503\",group=\"both\",resource=\"things\",version=\"v1\"} 1",
            ]
        );
    }
}
