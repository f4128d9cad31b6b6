//! What the other servers serve, asked for when one appears or begins anew (upstream: `peerProxyHandler.syncPeerDiscoveryCache`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use endpoints::{Members, PeerResources};
use http::StatusCode;
use http::header::{ACCEPT, HeaderValue};
use serde_json::Value;
use serving::User;
use serving::user::ALL_AUTHENTICATED;

use super::{PASSED_ON, Peers};
use crate::backends::{MAX_DOCUMENT, question, uri};

/// Who this server is when it asks another one.
const USER: &str = "system:apiserver";
/// Asks for what a server serves itself; those that know no difference say what they know.
const ACCEPTED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer,\
                        application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
/// How long a server may take to say what it serves.
const PATIENCE: Duration = Duration::from_secs(30);
/// How soon servers that did not answer are asked again, at first; each time it is twice as long, up to the latest
/// (upstream: `DefaultTypedControllerRateLimiter`).
const RETRY: Duration = Duration::from_millis(5);
const LATEST_RETRY: Duration = Duration::from_secs(1000);
/// How often that is done: a server is known before it says where it is.
const RETRIES: u32 = 20;

impl Peers {
    /// Keeps up with what the other servers serve. Does not end.
    pub async fn follow(self: Arc<Self>) {
        let mut changes = self.discovery.peers().members();
        let (mut asked, mut said): (BTreeMap<String, String>, _) = Default::default();
        let (mut failures, mut is_due) = (0, false);
        loop {
            let members = changes.borrow_and_update().clone();
            let anew = members.others != asked;
            if anew || is_due {
                let complete;
                (said, complete) = self.ask(&members).await;
                asked.clone_from(&members.others);
                failures = match complete {
                    true => 0,
                    false if anew => 1,
                    false => failures + 1,
                };
            }
            self.discovery.set_peer_resources(PeerResources::new(said.clone(), &members.excluded));
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

    /// What each server serves that says so, and whether all do.
    async fn ask(&self, members: &Members) -> (BTreeMap<String, Vec<Value>>, bool) {
        let (mut said, mut complete) = (BTreeMap::new(), true);
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
                    Err(why) => {
                        tracing::warn!(server, path, why, "asking another server of the cluster what it serves");
                        self.metrics.unknown("fetch_discovery");
                        complete = false;
                    }
                }
            }
            if !groups.is_empty() {
                said.insert(server.clone(), groups);
            }
        }
        (said, complete)
    }

    /// The groups of a document of a server.
    async fn groups(&self, address: &str, path: &str) -> Result<Vec<Value>, String> {
        let uri = uri(address, path).map_err(|why| why.to_string())?;
        let user = User { uid: USER.into(), ..User::new(USER, [ALL_AUTHENTICATED]) };
        let mut request = question(&uri, &user, &[(ACCEPT, ACCEPTED)]).map_err(|why| why.to_string())?;
        request.headers_mut().insert(PASSED_ON, HeaderValue::from_static("true"));
        let reply = self.client.exchange(request, PATIENCE, MAX_DOCUMENT).await;
        let code = reply.as_ref().map_or(StatusCode::SERVICE_UNAVAILABLE, |reply| reply.status);
        self.metrics.passed_on(code.as_u16(), [""; 3]);
        let reply = reply.map_err(|why| why.to_string())?;
        if code != StatusCode::OK {
            return Err(format!("discovery request failed with status: {}", code.as_u16()));
        }
        let mut document: Value = serde_json::from_slice(&reply.body).map_err(|why| why.to_string())?;
        let items = document.get_mut("items").map(Value::take);
        match (document["kind"].as_str(), items) {
            (Some("APIGroupDiscoveryList"), Some(Value::Array(groups))) => Ok(groups),
            _ => Err("error decoding discovery response: it is no APIGroupDiscoveryList".into()),
        }
    }
}
