//! Aggregated servers: connections and availability checks.

use std::sync::Arc;
use std::time::Duration;

use endpoints::{AggregatedServer, Registration};
use http::{Request, Uri};
use request::user::SYSTEM_MASTERS;
use request::{RequestInfo, User};
use webhook::{Body, Client, ClientIdentity, Reply, Route, Services, Trust};

use crate::error::Error;

/// The user name of the aggregator's own requests.
const AGGREGATOR: &str = "system:kube-aggregator";
/// Timeout of the aggregator's own requests.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size in bytes of a document of an aggregated server.
pub(crate) const MAX_DOCUMENT: usize = 64 << 20;
/// Number of concurrent probes before a server counts as unavailable. One of its endpoints may be
/// down.
const CONCURRENT_PROBES: usize = 5;

/// Connects to aggregated servers.
pub struct AggregatedServers {
    services: Arc<Services>,
    /// The front proxy client certificate and key, in PEM.
    identity: Option<ClientIdentity>,
}

impl AggregatedServers {
    /// Creates backends that resolve Services and authenticate with this certificate and key.
    pub fn new(services: Arc<Services>, identity: Option<ClientIdentity>) -> Self {
        AggregatedServers { services, identity }
    }

    /// Returns a client that verifies the certificate of this server.
    pub(crate) fn client(&self, backend: &AggregatedServer) -> Result<Client, webhook::Error> {
        self.services.client(Trust {
            authorities: backend.ca_bundle.clone(),
            insecure: backend.insecure,
            identity: self.identity.clone(),
            server_name: Some(format!("{}.{}.svc", backend.name, backend.namespace)),
            remote_only: false,
            route: Route::DIRECT,
        })
    }

    /// Resolves the current `host:port` of the server.
    pub(crate) fn resolve(&self, backend: &AggregatedServer) -> Result<String, webhook::Error> {
        self.services.resolve(&backend.namespace, &backend.name, backend.port)
    }

    /// Gets a document of the server, as the aggregator user.
    pub(crate) async fn get(
        &self,
        backend: &AggregatedServer,
        path: &str,
        headers: &[(http::HeaderName, &str)],
    ) -> Result<Reply, webhook::Error> {
        let uri = uri(&self.resolve(backend)?, path)?;
        self.client(backend)?.exchange(get_request(&uri, &aggregator_user(), headers)?, TIMEOUT, MAX_DOCUMENT).await
    }

    /// Checks that a server responds for its group version (upstream: the probe of
    /// `remote.AvailableConditionController`). The error is the message of the condition.
    ///
    /// # Errors
    /// Returns the last error if all probes fail.
    pub async fn probe(self: &Arc<Self>, registration: &Registration) -> Result<(), Error> {
        let Some(backend) = registration.backend.clone() else { return Ok(()) };
        let path = match (registration.group.as_str(), registration.version.as_str()) {
            ("", version) => format!("/api/{version}"),
            (group, version) => format!("/apis/{group}/{version}"),
        };
        let mut probes = tokio::task::JoinSet::new();
        for _ in 0..CONCURRENT_PROBES {
            let (backends, backend, path) = (self.clone(), backend.clone(), path.clone());
            probes.spawn(async move { backends.probe_once(&backend, &path).await });
        }
        let mut last = Ok(());
        while let Some(answer) = probes.join_next().await {
            match answer {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => last = Err(error),
                Err(error) => last = Err(error.into()),
            }
        }
        last
    }

    async fn probe_once(&self, backend: &AggregatedServer, path: &str) -> Result<(), Error> {
        let uri = self.resolve(backend).and_then(|host| uri(&host, path))?;
        let client = self.client(backend)?;
        let request = get_request(&uri, &aggregator_user(), &[])?;
        match client.exchange(request, TIMEOUT, MAX_DOCUMENT).await {
            Ok(reply) if reply.status.is_success() => Ok(()),
            Ok(reply) => Err(Error::BadStatus { uri, code: reply.status.as_u16() }),
            Err(source) => Err(Error::NoResponse { uri, source }),
        }
    }
}

pub(crate) fn uri(host: &str, path_and_query: &str) -> Result<Uri, webhook::Error> {
    format!("https://{host}{path_and_query}").parse().map_err(|why| webhook::Error::Service(format!("{host}: {why}")))
}

fn aggregator_user() -> User {
    User::new(AGGREGATOR, [SYSTEM_MASTERS])
}

/// Returns the URI of a request on another server. Path and query are encoded from their parsed
/// forms, so that the other server parses the same.
pub(crate) fn target(host: &str, info: &RequestInfo) -> Result<Uri, webhook::Error> {
    let mark = if info.query.is_empty() { "" } else { "?" };
    uri(host, &format!("{}{mark}{}", proxy::escape_path(&info.path), info.query.encode()))
}

/// Builds a GET request for a document, on behalf of a user.
pub(crate) fn get_request(
    uri: &Uri,
    user: &User,
    headers: &[(http::HeaderName, &str)],
) -> Result<Request<Body>, webhook::Error> {
    let mut request =
        proxy::get_request(uri.clone(), user).map_err(|status| webhook::Error::Service(status.message))?;
    for (name, value) in headers {
        if let Ok(value) = http::HeaderValue::from_str(value) {
            request.headers_mut().insert(name, value);
        }
    }
    Ok(request)
}
