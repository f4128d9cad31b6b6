//! Webhooks and aggregated servers that are named by a Service of the cluster.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::Uri;

use crate::{Client, Error, Route, Trust, Users};

/// Finds out where a Service can be reached (upstream: `webhook.ServiceResolver`). Whoever knows Services implements it.
pub trait ServiceAddress: Send + Sync {
    /// `host:port` of somebody who answers for the service at this moment.
    ///
    /// # Errors
    /// When nobody does.
    fn resolve(&self, namespace: &str, name: &str, port: i32) -> Result<String, Error>;
}

/// There are no Services.
pub struct NoServices;

impl ServiceAddress for NoServices {
    fn resolve(&self, namespace: &str, name: &str, _: i32) -> Result<String, Error> {
        Err(Error::Service(format!("service {name:?} of namespace {namespace:?} is not known to this server")))
    }
}

/// Whom to call (`WebhookClientConfig` of admission and conversion webhooks).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A server by its address.
    Url(String),
    /// A Service of the cluster.
    Service { namespace: String, name: String, port: i32, path: String },
}

/// Clients of targets, kept by whom they trust.
pub struct Services {
    addresses: Arc<dyn ServiceAddress>,
    /// How what is in the cluster is reached, and how what is named by an address.
    routes: (Route, Route),
    clients: Mutex<HashMap<Trust, Client>>,
}

/// The port of URLs that name none.
const HTTPS: u16 = 443;

/// How many clients are kept: more ways to trust than this are those of a cluster that changes its certificates.
const KEPT: usize = 64;

/// The address with a path without empty and dot segments, as upstream's client asks for it (Go: `path.Clean`).
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
    /// Calls services where these addresses are.
    pub fn new(addresses: Arc<dyn ServiceAddress>) -> Self {
        Services { addresses, routes: Default::default(), clients: Mutex::default() }
    }

    /// Reaches what is in the cluster, and what is named by an address, in these ways.
    #[must_use]
    pub fn by(self, cluster: Route, control_plane: Route) -> Self {
        Services { routes: (cluster, control_plane), ..self }
    }

    /// The client to call a target with, and what to call. A service is known by `name.namespace.svc`, whatever its address.
    ///
    /// # Errors
    /// When the target is no URL, nobody answers for the service, or the authorities are none.
    pub fn reach(&self, target: &Target, ca_bundle: &[u8]) -> Result<(Client, Uri), Error> {
        self.reach_as(target, ca_bundle, &Users::default())
    }

    /// Likewise, as the user that is for the target.
    ///
    /// # Errors
    /// Those of [`reach`](Self::reach), and when the user's certificate or key is none.
    pub fn reach_as(&self, target: &Target, ca_bundle: &[u8], users: &Users) -> Result<(Client, Uri), Error> {
        let mut trust = Trust { authorities: ca_bundle.to_vec(), ..Trust::default() };
        let mut route = &self.routes.0;
        let url = match target {
            Target::Url(url) => {
                route = &self.routes.1;
                url.clone()
            }
            Target::Service { namespace, name, port, path } => {
                trust.server_name = Some(format!("{name}.{namespace}.svc"));
                let address = self.addresses.resolve(namespace, name, *port)?;
                format!("https://{address}/{}", path.trim_start_matches('/'))
            }
        };
        let wrong = |why: http::Error| Error::Configuration(format!("parse {url:?}: {why}"));
        let uri = url.parse().map_err(http::Error::from).and_then(clean).map_err(wrong)?;
        let user = match target {
            Target::Service { namespace, name, port, .. } => {
                users.of_server(&format!("{name}.{namespace}.svc"), u16::try_from(*port).unwrap_or_default())
            }
            Target::Url(_) => users.of_server(uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(HTTPS)),
        };
        let identity = user.and_then(|user| user.identity.clone());
        let client = self.client_by(Trust { route: route.clone(), identity, ..trust })?;
        let client = match user.and_then(|user| user.authorization.clone()) {
            Some(authorization) => client.with_authorization(authorization),
            None => client,
        };
        Ok((client, uri))
    }

    /// The client that trusts in this way, of servers in the cluster.
    ///
    /// # Errors
    /// When certificates or keys are none.
    pub fn client(&self, trust: Trust) -> Result<Client, Error> {
        self.client_by(Trust { route: self.routes.0.clone(), ..trust })
    }

    fn client_by(&self, trust: Trust) -> Result<Client, Error> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&trust) {
            return Ok(client.clone());
        }
        let client = Client::new(&trust)?;
        if clients.len() >= KEPT {
            clients.clear();
        }
        clients.insert(trust, client.clone());
        Ok(client)
    }

    /// Where a service is.
    ///
    /// # Errors
    /// When nobody answers for it.
    pub fn resolve(&self, namespace: &str, name: &str, port: i32) -> Result<String, Error> {
        self.addresses.resolve(namespace, name, port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_for_clean_paths() {
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
