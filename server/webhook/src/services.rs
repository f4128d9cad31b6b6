//! Clients of webhooks and aggregated servers that run behind a Service.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::Uri;

use crate::{Client, Error, Route, Trust, Users};

/// Resolves the address of a Service (upstream: `webhook.ServiceResolver`). Another crate
/// implements it.
pub trait ServiceAddress: Send + Sync {
    /// Returns `host:port` of an endpoint of the Service.
    ///
    /// # Errors
    /// Returns an error if the Service has no endpoint.
    fn resolve(&self, namespace: &str, name: &str, port: i32) -> Result<String, Error>;
}

/// An implementation without Services.
pub struct NoServices;

impl ServiceAddress for NoServices {
    fn resolve(&self, namespace: &str, name: &str, _: i32) -> Result<String, Error> {
        Err(Error::Service(format!("service {name:?} of namespace {namespace:?} is not known to this server")))
    }
}

/// The target of a webhook call (`WebhookClientConfig` of admission and conversion webhooks).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WebhookTarget {
    /// A server by its URL.
    Url(String),
    /// A Service of the cluster.
    Service { namespace: String, name: String, port: i32, path: String },
}

/// Clients of targets, cached by trust settings.
pub struct Services {
    addresses: Arc<dyn ServiceAddress>,
    /// The routes to targets in the cluster, and to targets by URL.
    routes: (Route, Route),
    clients: Mutex<HashMap<Trust, Client>>,
}

/// The default port of URLs.
const HTTPS: u16 = 443;

/// Maximum number of cached clients. More trust settings occur only when certificates are rotated.
const MAX_CLIENTS: usize = 64;

/// Removes empty and dot segments of the path, as upstream's client does (Go: `path.Clean`).
fn clean(uri: Uri) -> Result<Uri, http::Error> {
    let mut segments = Vec::new();
    for segment in uri.path().split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    let path = format!("/{}", segments.join("/"));
    if path == uri.path() {
        return Ok(uri);
    }
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.into_parts();
    parts.path_and_query = Some((path + &query).parse()?);
    Ok(Uri::from_parts(parts)?)
}

impl Services {
    /// Creates clients that resolve Services with `addresses`.
    pub fn new(addresses: Arc<dyn ServiceAddress>) -> Self {
        Services { addresses, routes: Default::default(), clients: Mutex::default() }
    }

    /// Sets the routes to targets in the cluster, and to targets by URL.
    #[must_use]
    pub fn by(self, cluster: Route, control_plane: Route) -> Self {
        Services { routes: (cluster, control_plane), ..self }
    }

    /// Returns the client and the URI of a target. The expected server name of a Service is
    /// `name.namespace.svc`.
    ///
    /// # Errors
    /// Returns an error if the URL is malformed, the Service has no endpoint, or the CA bundle is
    /// malformed.
    pub fn reach(&self, target: &WebhookTarget, ca_bundle: &[u8]) -> Result<(Client, Uri), Error> {
        self.reach_as(target, ca_bundle, &Users::default())
    }

    /// Same as [`reach`](Self::reach), with the credentials of the user for the target.
    ///
    /// # Errors
    /// Returns the errors of [`reach`](Self::reach), and an error if the user's certificate or key
    /// is malformed.
    pub fn reach_as(&self, target: &WebhookTarget, ca_bundle: &[u8], users: &Users) -> Result<(Client, Uri), Error> {
        let mut trust = Trust { authorities: ca_bundle.to_vec(), ..Trust::default() };
        let mut route = &self.routes.0;
        let url = match target {
            WebhookTarget::Url(url) => {
                route = &self.routes.1;
                url.clone()
            }
            WebhookTarget::Service { namespace, name, port, path } => {
                trust.server_name = Some(format!("{name}.{namespace}.svc"));
                let address = self.addresses.resolve(namespace, name, *port)?;
                format!("https://{address}/{}", path.trim_start_matches('/'))
            }
        };
        let wrong = |why: http::Error| Error::Configuration(format!("parse {url:?}: {why}"));
        let uri = url.parse().map_err(http::Error::from).and_then(clean).map_err(wrong)?;
        let user = match target {
            WebhookTarget::Service { namespace, name, port, .. } => {
                users.of_server(&format!("{name}.{namespace}.svc"), u16::try_from(*port).unwrap_or_default())
            }
            WebhookTarget::Url(_) => users.of_server(uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(HTTPS)),
        };
        let identity = user.and_then(|user| user.identity.clone());
        let client = self.cached_client(Trust { route: route.clone(), identity, ..trust })?;
        let client = match user.and_then(|user| user.authorization.clone()) {
            Some(authorization) => client.with_authorization(authorization),
            None => client,
        };
        Ok((client, uri))
    }

    /// Returns the client with these trust settings, for servers in the cluster.
    ///
    /// # Errors
    /// Returns an error for malformed certificates or keys.
    pub fn client(&self, trust: Trust) -> Result<Client, Error> {
        self.cached_client(Trust { route: self.routes.0.clone(), ..trust })
    }

    fn cached_client(&self, trust: Trust) -> Result<Client, Error> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&trust) {
            return Ok(client.clone());
        }
        let client = Client::new(&trust)?;
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(trust, client.clone());
        Ok(client)
    }

    /// Resolves the address of a Service.
    ///
    /// # Errors
    /// Returns an error if the Service has no endpoint.
    pub fn resolve(&self, namespace: &str, name: &str, port: i32) -> Result<String, Error> {
        self.addresses.resolve(namespace, name, port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleans_paths() {
        for (url, expect) in [
            ("https://a.example/b?c", "https://a.example/b?c"),
            ("https://a.example:1//b/./c/../d/", "https://a.example:1/b/d"),
            ("https://a.example/../..", "https://a.example/"),
            ("https://a.example", "https://a.example/"),
        ] {
            assert_eq!(clean(url.parse().unwrap()).unwrap().to_string(), expect);
        }
    }
}
