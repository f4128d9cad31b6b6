//! Periodic discovery of aggregated servers (upstream: `discoveryManager`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use endpoints::{AggregatedServer, Discovery, Registration, RemoteDocument, RemoteVersion};
use http::header::{ACCEPT, ETAG, IF_NONE_MATCH};
use http::{HeaderName, StatusCode};
use serde_json::{Value, json};

use crate::aggregated_servers::AggregatedServers;
use crate::{TaskMap, legacy};

/// Interval between requests to an available server.
const REFRESH: Duration = Duration::from_secs(60);
/// First retry delay after a failure. It doubles up to `REFRESH`.
const RETRY: Duration = Duration::from_millis(500);

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/// Keeps the discovery of aggregated servers up to date. Does not return.
pub async fn follow(discovery: Arc<Discovery>, backends: Arc<AggregatedServers>) {
    let mut changes = discovery.registrations().changes();
    let mut servers = TaskMap::default();
    let mut known: HashSet<Name> = HashSet::new();
    loop {
        let registered = changes.borrow_and_update().clone();
        let mut by_server: HashMap<Arc<AggregatedServer>, Vec<Registration>> = HashMap::new();
        for (registration, backend) in registered.remote() {
            by_server.entry(backend.clone()).or_default().push(registration.clone());
        }
        let now: HashSet<Name> = by_server.values().flatten().map(name).collect();
        for (group, version) in known.difference(&now) {
            discovery.set_remote(group, version, None);
        }
        known = now;
        let keys = by_server.into_iter().collect();
        servers.keep(&keys, |(backend, served)| {
            Server { discovery: discovery.clone(), backends: backends.clone(), backend, served }.follow()
        });
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// Group and version.
type Name = (String, String);

fn name(registration: &Registration) -> Name {
    (registration.group.clone(), registration.version.clone())
}

fn path(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// An aggregated server and its registrations.
struct Server {
    discovery: Arc<Discovery>,
    backends: Arc<AggregatedServers>,
    backend: Arc<AggregatedServer>,
    served: Vec<Registration>,
}

impl Server {
    async fn follow(self) {
        let mut known = Known::default();
        let mut retry = RETRY;
        loop {
            let reached = self.refresh(&mut known).await;
            retry = if reached { RETRY } else { (retry * 2).min(REFRESH) };
            tokio::time::sleep(if reached { REFRESH } else { retry }).await;
        }
    }

    /// Requests discovery once and stores the result. Returns whether all requests succeeded.
    async fn refresh(&self, known: &mut Known) -> bool {
        let discovered = match self.backend.available {
            true => self.aggregated(&mut known.discovery).await,
            false => Err(()),
        };
        let openapi = if discovered.is_ok() { self.openapi().await } else { Value::Null };
        if discovered.is_ok() {
            self.refresh_v2(&mut known.openapi_v2).await;
        }
        let mut reached = true;
        for registration in &self.served {
            let Registration { group, version, .. } = registration;
            let resources = match &discovered {
                Ok(Some(discovered)) => Ok(discovered.get(&name(registration)).cloned().unwrap_or_default()),
                Ok(None) => self.legacy(group, version).await,
                Err(()) => Err(()),
            };
            reached &= resources.is_ok();
            let before = || self.discovery.remote(group, version);
            let now = RemoteVersion {
                group_priority: registration.group_priority,
                version_priority: registration.version_priority,
                current: resources.is_ok(),
                openapi_v2: known.openapi_v2.clone().filter(|_| discovered.is_ok()),
                openapi: openapi["paths"][path(group, version)]["serverRelativeURL"].as_str().map(str::to_owned),
                // Keeps the last known resources of an unreachable server.
                resources: resources.unwrap_or_else(|()| before().map(|known| known.resources).unwrap_or_default()),
            };
            self.discovery.set_remote(group, version, Some(now));
        }
        reached
    }

    /// Returns aggregated discovery by group and version; `None` if the server does not support it.
    async fn aggregated(&self, document: &mut Option<Document>) -> Result<Option<Resources>, ()> {
        let etag = document.as_ref().map_or("", |document| &document.etag);
        let mut headers: Vec<(HeaderName, &str)> = vec![(ACCEPT, AGGREGATED)];
        if !etag.is_empty() {
            headers.push((IF_NONE_MATCH, etag));
        }
        let reply = self.backends.get(&self.backend, "/apis", &headers).await.map_err(drop)?;
        match reply.status {
            StatusCode::NOT_MODIFIED => {}
            StatusCode::SERVICE_UNAVAILABLE => return Err(()),
            StatusCode::OK if is_aggregated(&reply.headers) => {
                let etag = etag_of(&reply.headers);
                let list = serde_json::from_slice(&reply.body).map_err(drop)?;
                *document = Some(Document { etag, resources: resources(&list) });
            }
            _ => return Ok(None),
        }
        Ok(document.as_ref().map(|document| document.resources.clone()))
    }

    async fn legacy(&self, group: &str, version: &str) -> Result<Vec<Value>, ()> {
        let path = format!("/{}", path(group, version));
        let reply = self.backends.get(&self.backend, &path, &[(ACCEPT, "application/json")]).await.map_err(drop)?;
        if reply.status != StatusCode::OK {
            return Err(());
        }
        serde_json::from_slice(&reply.body).map(|list| legacy::resources(&list)).map_err(drop)
    }

    /// Returns the index of the server's OpenAPI v3 documents.
    async fn openapi(&self) -> Value {
        let reply = self.backends.get(&self.backend, "/openapi/v3", &[(ACCEPT, "application/json")]).await;
        let index = reply.ok().filter(|reply| reply.status == StatusCode::OK);
        index.and_then(|reply| serde_json::from_slice(&reply.body).ok()).unwrap_or_default()
    }

    /// Fetches the server's OpenAPI v2 document, unless the ETag matches.
    async fn refresh_v2(&self, known: &mut Option<Arc<RemoteDocument>>) {
        let etag = known.as_ref().map_or("", |document| &document.etag);
        let mut headers: Vec<(HeaderName, &str)> = vec![(ACCEPT, "application/json")];
        if !etag.is_empty() {
            headers.push((IF_NONE_MATCH, etag));
        }
        let Ok(reply) = self.backends.get(&self.backend, "/openapi/v2", &headers).await else { return };
        match reply.status {
            StatusCode::NOT_MODIFIED => {}
            StatusCode::OK => *known = Some(Arc::new(RemoteDocument::new(etag_of(&reply.headers), reply.body))),
            _ => *known = None,
        }
    }
}

/// The last responses of a server.
#[derive(Default)]
struct Known {
    discovery: Option<Document>,
    openapi_v2: Option<Arc<RemoteDocument>>,
}

/// Entries of an `APIVersionDiscovery` by group and version.
type Resources = BTreeMap<Name, Vec<Value>>;

/// An aggregated discovery document.
struct Document {
    etag: String,
    resources: Resources,
}

fn etag_of(headers: &http::HeaderMap) -> String {
    headers.get(ETAG).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn is_aggregated(headers: &http::HeaderMap) -> bool {
    let content_type =
        headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.contains("g=apidiscovery.k8s.io") && content_type.contains("as=APIGroupDiscoveryList")
}

fn resources(list: &Value) -> Resources {
    let array = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut out = Resources::new();
    for group in array(list, "items") {
        let name = group["metadata"]["name"].as_str().unwrap_or_default();
        for version in array(&group, "versions") {
            let resources = array(&version, "resources").into_iter().map(with_kinds).collect();
            out.insert((name.to_owned(), version["version"].as_str().unwrap_or_default().to_owned()), resources);
        }
    }
    out
}

/// Some client releases fail if `responseKind` is absent (kubernetes/kubernetes#118361).
fn with_kinds(mut resource: Value) -> Value {
    let none = || json!({"group": "", "version": "", "kind": ""});
    if resource["responseKind"].is_null() {
        resource["responseKind"] = none();
    }
    for subresource in resource["subresources"].as_array_mut().into_iter().flatten() {
        if subresource["responseKind"].is_null() {
            subresource["responseKind"] = none();
        }
    }
    resource
}
