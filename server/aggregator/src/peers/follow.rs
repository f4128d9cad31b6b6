//! Discovery of peers, requested when a peer appears or restarts (upstream:
//! `peerProxyHandler.syncPeerDiscoveryCache`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use endpoints::{Members, PeerResources};
use http::StatusCode;
use http::header::{ACCEPT, HeaderValue};
use request::User;
use request::user::ALL_AUTHENTICATED;
use serde_json::Value;

use super::{PEER_PROXIED, PeerProxy};
use crate::aggregated_servers::{MAX_DOCUMENT, get_request, uri};
use crate::error::Error;

/// The user name of discovery requests to peers.
const USER: &str = "system:apiserver";
/// Requests the resources of the peer alone. Peers without the `nopeer` profile return all that
/// they know.
const ACCEPTED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer,\
                        application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
/// Timeout of a discovery request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// First retry delay after a failure. It doubles up to the maximum (upstream:
/// `DefaultTypedControllerRateLimiter`).
const RETRY: Duration = Duration::from_millis(5);
const LATEST_RETRY: Duration = Duration::from_secs(1000);
/// Maximum number of retries. A peer is known before it publishes its address.
const RETRIES: u32 = 20;

impl PeerProxy {
    /// Keeps the discovery of peers up to date. Does not return.
    pub async fn follow(self: Arc<Self>) {
        let mut changes = self.discovery.peers().members();
        let (mut requested, mut by_server): (BTreeMap<String, String>, _) = Default::default();
        let (mut failures, mut is_due) = (0, false);
        loop {
            let members = changes.borrow_and_update().clone();
            let members_changed = members.others != requested;
            if members_changed || is_due {
                let complete;
                (by_server, complete) = self.fetch_all(&members).await;
                requested.clone_from(&members.others);
                failures = match complete {
                    true => 0,
                    false if members_changed => 1,
                    false => failures + 1,
                };
            }
            self.discovery.set_peer_resources(PeerResources::new(by_server.clone(), &members.excluded));
            let pause = RETRY.saturating_mul(2u32.saturating_pow(failures)).min(LATEST_RETRY);
            let changed = changes.changed();
            let changed = match failures {
                1..=RETRIES => tokio::time::timeout(pause, changed).await,
                _ => Ok(changed.await),
            };
            is_due = changed.is_err();
            if matches!(changed, Ok(Err(_))) {
                return;
            }
        }
    }

    /// Returns the groups of each peer that responds, and whether all did.
    async fn fetch_all(&self, members: &Members) -> (BTreeMap<String, Vec<Value>>, bool) {
        let (mut by_server, mut complete) = (BTreeMap::new(), true);
        for server in members.others.keys() {
            let Ok(address) = self.addresses.find(server).await else {
                self.metrics.unknown("hostport_resolution");
                complete = false;
                continue;
            };
            let mut groups = Vec::new();
            for path in ["/api", "/apis"] {
                match self.groups(&address, path).await {
                    Ok(some) => groups.extend(some),
                    Err(error) => {
                        tracing::warn!(server, path, %error, "cannot fetch the discovery of a peer API server");
                        self.metrics.unknown("fetch_discovery");
                        complete = false;
                    }
                }
            }
            if !groups.is_empty() {
                by_server.insert(server.clone(), groups);
            }
        }
        (by_server, complete)
    }

    /// Fetches the groups of a discovery document of a peer.
    async fn groups(&self, address: &str, path: &str) -> Result<Vec<Value>, Error> {
        let uri = uri(address, path)?;
        let user = User { uid: USER.into(), ..User::new(USER, [ALL_AUTHENTICATED]) };
        let mut request = get_request(&uri, &user, &[(ACCEPT, ACCEPTED)])?;
        request.headers_mut().insert(PEER_PROXIED, HeaderValue::from_static("true"));
        let reply = self.client.exchange(request, TIMEOUT, MAX_DOCUMENT).await;
        let code = reply.as_ref().map_or(StatusCode::SERVICE_UNAVAILABLE, |reply| reply.status);
        self.metrics.rerouted(code.as_u16(), [""; 3]);
        let reply = reply?;
        if code != StatusCode::OK {
            return Err(Error::Discovery { code: code.as_u16() });
        }
        let mut document: Value = serde_json::from_slice(&reply.body)?;
        let items = document.get_mut("items").map(Value::take);
        match (document["kind"].as_str(), items) {
            (Some("APIGroupDiscoveryList"), Some(Value::Array(groups))) => Ok(groups),
            _ => Err(Error::NotDiscovery),
        }
    }
}
